// A table: the bar, the score, the felt, the bids, and what lies over them.

import { h } from '../h.mjs'
import { icon, shield } from './cards.mjs'
import { dock } from './dock.mjs'
import { handEnd } from './end.mjs'
import { felt } from './felt.mjs'
import { awaited, cleared } from '../state/table.mjs'
import { badgeOf, goalOf, namesOf } from './model.mjs'
import { score } from './score.mjs'
import { sheet, stopped } from './sheets.mjs'
import { side } from './side.mjs'

const SPECTATORS = 8     // the place of this term in `opts`: above 3 it is by how many seconds watchers see it later
const LIVE = 3
const SPOKEN_CODE = 8     // those of private tables are too long to be told by mouth

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

/** @param {Ui} ui @param {Table} table */
export function screen(ui, table) {
  const speech = ui.speech.of(table.rules)
  const lying = cleared(table, awaited(table).length > 0)
  return h('div', { class: 'app', key: `table-${table.code}` },
    bar(ui, table, speech), score(ui, lying, speech), felt(ui, lying, speech), dock(ui, table, speech), side(ui, table, speech),
    band(ui, table, speech), table.proof.failed !== null ? stopped(ui, table, speech) : sheet(ui, table, speech) ?? (ui.isEndOpen(table) ? handEnd(ui, table, speech) : null))
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function bar(ui, table, speech) {
  const { target } = goalOf(table)
  const variant = table.shown?.variant ?? table.rules?.variant ?? ''
  const { how, text } = badgeOf(table, ui.state.me?.isKeyed ?? false, speech)
  const delay = table.seat === null ? (table.shown?.opts[SPECTATORS] ?? 0) - LIVE : 0
  const about = [delay > 0 ? speech.say('page.late', { n: delay }) : '', target > 0 ? speech.say('screen.to_target', { target }) : '', table.code.length <= SPOKEN_CODE && speech.say('page.table_code', { code: table.code })].filter(Boolean)
  return h('header', { class: 'bar' },
    h('a', { class: 'brand', href: '/', onclick: ui.link }, 'truc'), h('h1', null, ui.gameName(variant), h('small', null, about.join(' · '))), h('span', { class: 'sp' }),
    table.view.phase !== 'none' && h('button', { class: `badge ${how}`, onclick: () => ui.put('sheet', 'proof'), 'aria-label': text }, shield(how), h('span', null, text)),
    h('button', { class: 'ic', 'aria-label': speech.say('page.sound'), 'aria-pressed': String(ui.settings.isLoud), onclick: () => ui.set('isLoud', !ui.settings.isLoud) }, icon(ui.settings.isLoud ? 'sound' : 'muted')),
    h('button', { class: 'ic', 'aria-label': speech.say('page.chat'), onclick: () => ui.openSide(table) }, icon('chat'), table.unread > 0 && h('i', null, table.unread)),
    h('button', { class: 'ic', 'aria-label': speech.say('page.menu'), onclick: () => ui.put('sheet', 'menu') }, icon('menu')))
}

/** What is not as it should be: no connection, somebody away, a pause. @param {Ui} ui @param {Table} table @param {Speech} speech */
function band(ui, table, speech) {
  const names = namesOf(table, speech)
  const { line } = ui.state
  const lines = [
    line.state !== 'ready' && speech.say('page.reconnecting'),
    ui.state.drainsUntil !== null && speech.say('page.draining'),
    ui.state.isStale && speech.say('page.stale'),
    ...(table.ended === null ? [] : (table.shown?.seats ?? []).filter((/** @type {any} */ { seat, ready }) => ready && seat !== table.seat).map((/** @type {any} */ { name }) => speech.say('screen.wants_another', { name }))),
    table.paused.length > 0 && table.ended === null && speech.say(table.view.paused ? 'page.wants_on' : 'page.wants_pause', { names: speech.joined(table.paused.map((seat) => names[seat])) })
  ].filter(Boolean)
  const away = table.ended !== null ? [] : Object.entries(table.away).filter(([seat]) => Number(seat) !== table.seat)
  return (lines.length > 0 || away.length > 0) && h('div', { class: 'band', role: 'status' }, lines.map((text) => h('p', null, text)),
    away.map(([seat, { claim }]) => h('p', null, speech.say('screen.away', { name: names[Number(seat)] }),
      claim === 0 && table.seat !== null && h('button', { class: 'chip', onclick: () => ui.wish('claim', { table: table.code }) }, speech.say('page.claim')))))
}
