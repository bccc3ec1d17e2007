// Which screen an address shows.

import { h } from './h.mjs'
import { sitScreen } from './view/sit.mjs'
import { noticeScreen } from './view/notice.mjs'

/** @typedef {import('./ui.mjs').Ui} Ui */

/** The screens by the first part of the address, but for the way to a seat, to which most links lead: loaded when they are asked for. */
/** @type {Record<string, () => Promise<any>>} */
const LATER = {
  t: () => import('./view/table.mjs'),
  '': () => import('./view/lobby.mjs'),
  play: () => import('./view/new_table.mjs'),
  best: () => import('./view/leaderboard.mjs'),
  history: () => import('./view/history.mjs'),
  settings: () => import('./view/settings.mjs'),
  m: () => import('./view/replay.mjs'),
  learn: () => import('./view/learn.mjs')
}
/** @type {Map<string, any>} */
const loaded = new Map()

/** @param {Ui} ui */
export function screenOf(ui) {
  const { state } = ui
  const notice = noticeScreen(ui)
  if (notice !== null) return notice
  const [, kind = '', rest = ''] = state.path.split('/')
  if (kind === 't' || kind === 'w') {
    const table = ui.tableHere
    // a link to watch is a wish as well, made once the server can be asked
    if (kind === 'w' && table === null) ui.once('watch', rest, () => ui.wish('watch', { table: rest.toUpperCase() }))
    const sits = () => sitScreen(ui, rest.toUpperCase())
    return table === null || (kind === 't' && table.seat === null && !state.screen.watch) ? sits() : later(ui, 't', table) ?? sits()
  }
  return later(ui, kind in LATER ? kind : '', rest) ?? (state.line.state === 'ready' ? null : waitScreen(ui))
}

/** @param {Ui} ui */
const waitScreen = ({ speech }) => h('main', { class: 'page', key: 'wait' }, h('h1', { class: 'wait' }, speech.say('page.connecting')))

/** Load a screen, if that was not done before. @param {string} kind */
export async function load(kind) {
  loaded.set(kind, (await LATER[kind]()).screen)
}

/** All of them, so that the menu leads somewhere while the server is gone. What does not come now is asked for when it is shown. */
export function loadAll() {
  for (const kind of Object.keys(LATER)) load(kind).catch(() => {})
}

/** @param {Ui} ui @param {string} kind @param {any} about */
function later(ui, kind, about) {
  const screen = loaded.get(kind)
  if (screen !== undefined && ui.drawings !== null) return screen(ui, about)
  Promise.all([load(kind), ui.loadRest()]).then(() => ui.draw(), () => {})     // asked for again when the connection is back: then the page is drawn
  return null
}
