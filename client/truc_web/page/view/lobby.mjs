// The lobby: what one can go back to, a quick game, the tables, the chat.

import { h } from '../h.mjs'
import { isMine } from './model.mjs'
import { nameForm } from './sit.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */

/** @param {Ui} ui */
export function lobbyScreen(ui) {
  const { state, speech } = ui
  if (state.server === null || state.me === null) return h('main', { class: 'page', key: 'lobby' }, h('p', { class: 'dim' }, speech.say('page.connecting')))
  follow(ui)
  return h('div', { class: 'lobby', key: 'lobby' },
    h('header', { class: 'bar page' }, h('a', { class: 'brand', href: '/', onclick: ui.link }, 'truc'),
      h('h1', null, state.server.name, state.lobby && h('small', null, speech.say('page.house', state.lobby))), h('span', { class: 'sp' }),
      h('a', { class: 'chip', href: '/settings', onclick: ui.link }, state.me.name)),
    h('main', { class: 'page' }, own(ui), state.vault?.name === null ? h('section', { class: 'card' }, nameForm(ui, speech.say('page.that_is_me'), () => {})) : null,
      quick(ui), tables(ui)))
}

/** @param {Ui} ui */
function follow(ui) {
  if (ui.state.answers.lobby !== undefined || ui.state.line.state !== 'ready') return
  ui.state.answers.lobby = true
  ui.fetch('lobby', 'lobby')
}

/** @param {Ui} ui */
function own({ state, speech, link, gameName }) {
  return Object.values(state.tables).filter(({ seat, gone }) => seat !== null && gone === null).map((table) => h('section', { class: 'card back', key: table.code },
    h('span', null, h('b', null, speech.say('page.goes_on')), ' ', gameName(table.shown?.variant ?? ''), isMine(table) ? `, ${speech.say('page.your_turn')}` : ''),
    h('a', { class: 'b yes', href: `/t/${table.code}`, onclick: link }, h('b', null, speech.say('page.back_to_it')))))
}

/** @param {Ui} ui */
function quick(ui) {
  const { state, speech } = ui
  return h('div', { class: 'play' }, state.server.variants.map((/** @type {any} */ { name, seats }) => h('button', { class: 'tile', key: name, onclick: () => seek(ui, name, seats[0]) },
    h('b', null, ui.gameName(name)), h('small', null, speech.say('page.play_now')))))
}

/** @param {Ui} ui @param {string} variant @param {number} seats */
async function seek(ui, variant, seats) {
  const options = ui.state.me.isKeyed ? {} : { guests: 2 }
  const answer = await ui.ask('seek', { variant, seats, options })
  if (answer === null) return
  ui.go(`/t/${answer.table}`)
  ui.ask('ready', { table: answer.table }, { isQuiet: true })
}

/** @param {Ui} ui */
function tables(ui) {
  const { state, speech, link } = ui
  const rows = Object.values(state.listed).sort((a, b) => (a.state === 'open' ? 0 : 1) - (b.state === 'open' ? 0 : 1))
  return h('section', { class: 'card' }, h('h3', null, speech.say('page.tables')), h('table', { class: 'rows' }, h('tbody', null, rows.map((row) => h('tr', { key: row.table },
    h('td', null, h('b', null, ui.gameName(row.variant))), h('td', { class: 'hide' }, row.seats.map((/** @type {any} */ { name }) => name).filter(Boolean).join(', ')),
    h('td', null, h('span', { class: 'dots' }, row.seats.map((/** @type {any} */ { kind }) => h('i', { class: kind === 'empty' ? '' : 'f' })))),
    h('td', null, h('a', { class: 'b', href: `/t/${row.table}`, onclick: link }, h('b', null, speech.say(row.seats.some((/** @type {any} */ { kind }) => kind === 'empty') ? 'page.sit' : 'page.watch')))))))))
}
