// Which screen an address shows.

import { sitScreen } from './view/sit.mjs'
import { tableScreen } from './view/table.mjs'
import { lobbyScreen } from './view/lobby.mjs'
import { noticeScreen } from './view/notice.mjs'

/** @typedef {import('./ui.mjs').Ui} Ui */

/** The screens by the first part of the address; those that few visit are loaded when they are asked for. */
/** @type {Record<string, () => Promise<any>>} */
const LATER = {
  play: () => import('./view/new_table.mjs'),
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
    return table === null || (kind === 't' && table.seat === null && !state.screen.watch) ? sitScreen(ui, rest.toUpperCase()) : tableScreen(ui, table)
  }
  return kind in LATER ? later(ui, kind, rest) : lobbyScreen(ui)
}

/** @param {Ui} ui @param {string} kind @param {string} rest */
function later(ui, kind, rest) {
  const screen = loaded.get(kind)
  if (screen !== undefined) return screen(ui, rest)
  LATER[kind]().then((module) => {
    loaded.set(kind, module.screen)
    ui.draw()
  })
  return null
}
