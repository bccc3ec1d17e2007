// Beside the felt, or drawn over it on a small screen: what has happened and is said, the closed hands, the rules in short.

import { h } from '../h.mjs'
import { card } from './cards.mjs'
import { namesOf, packOf, sideOf } from './model.mjs'
import { ranks } from './score.mjs'

const TABS = ['table', 'hands', 'rules']
const MOST_SHOWN = 120
/** A keyboard on the screen would cover what there is to read. */
const IS_TOUCHED = globalThis.matchMedia?.('(pointer: coarse)').matches === true

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
export function side(ui, table, speech) {
  const tab = ui.state.screen.tab ?? 'table'
  const isOpen = ui.state.screen.side === true
  const bodies = { table: talk, hands, rules }
  return h('aside', { class: `side${isOpen ? ' open' : ''}`, 'aria-label': speech.say('page.chat_and_record') },
    h('div', { class: 'tabs', role: 'tablist', 'aria-label': speech.say('page.chat_and_record') },
      TABS.map((name) => h('button', { role: 'tab', 'aria-selected': String(name === tab), onclick: () => ui.put('tab', name) }, speech.say(`page.tab_${name}`))),
      h('button', { class: 'ic shut', 'aria-label': speech.say('page.close'), onclick: () => ui.put('side', false) }, '×')),
    bodies[/** @type {keyof typeof bodies} */ (tab)](ui, table, speech))
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function talk(ui, table, speech) {
  const names = namesOf(table, speech)
  const lines = table.log.slice(-MOST_SHOWN).flatMap((line) => drawnOnce(table, line, names, speech))
  const phrases = table.seat === null || table.code === '' ? [] : table.rules?.params.phrases ?? []
  return [
    h('div', { class: 'log newest' }, h('ul', null, lines)),
    phrases.length > 0 && h('div', { class: 'quick' }, phrases.map((/** @type {string} */ phrase) => h('button', {
      class: 'chip', title: speech.phrase(phrase).meaning, lang: speech.tongue, onclick: () => ui.ask('say', { table: table.code, phrase })
    }, speech.phrase(phrase).word))),
    table.code !== '' && h('form', { class: 'send', onsubmit: (/** @type {any} */ event) => ui.sendChat(event, table.code) },
      h('input', { name: 'text', maxlength: 200, 'data-focus': ui.state.screen.side === true && !IS_TOUCHED, autocomplete: 'off', 'aria-label': speech.say('page.message'), placeholder: speech.say('page.say_something') }))
  ]
}

/** Lines as they were drawn, by what they tell. @type {WeakMap<object, { shown: any, speech: Speech, names: string }>} */
const drawn = new WeakMap()

// Most lines of a frame stood in the one before.
/** @param {Table} table @param {any} line @param {string[]} names @param {Speech} speech */
function drawnOnce(table, line, names, speech) {
  const [known, who] = [drawn.get(line), names.join('\n')]
  if (known?.speech === speech && known.names === who) return known.shown
  const shown = lineOf(table, line, names, speech)
  drawn.set(line, { shown, speech, names: who })
  return shown
}

/** @param {Table} table @param {any} line @param {string[]} names @param {Speech} speech */
function lineOf(table, { fact, chat, heard, j }, names, speech) {
  if (chat !== undefined) {
    const look = chat.seat === undefined ? '' : sideOf(table, chat.seat)
    return h('li', { class: `said ${look}` }, h('b', null, chat.name), ' ', chat.text)
  }
  if (heard !== undefined) {
    const word = heard.what === 'signed' ? speech.sign(heard.word).word : speech.phrase(heard.phrase).word
    return h('li', { class: sideOf(table, heard.seat) }, h('b', null, names[heard.seat]), ' ', h('em', null, word))
  }
  if (fact.what === 'called' && fact.cards > 0) return h('li', { class: 'hd' }, speech.say('page.hand_n', { n: j }))
  const text = speech.tellFirst(fact, names)
  return text === null ? [] : h('li', { class: 'ev' }, `${text}.`)
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function hands(ui, table, speech) {
  const closed = table.closed
  if (closed === null) return h('p', { class: 'empty' }, speech.say('page.no_hand_yet'))
  const pack = packOf(speech, ui.settings.isFour)
  const names = namesOf(table, speech)
  return h('div', { class: 'log' }, h('h3', null, speech.say('page.hand_n', { n: closed.j })),
    Object.entries(closed.opened).map(([seat, cards]) => h('div', { class: `row ${sideOf(table, Number(seat))}` }, h('b', null, names[Number(seat)]),
      h('span', { class: 'cards' }, cards.map((name) => card(name, pack))))))
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function rules(ui, table, speech) {
  if (table.rules === null) return h('p', { class: 'empty' }, speech.say('page.no_hand_yet'))
  const { scoring, envido } = table.rules.params
  const said = [speech.say('lessons.hand'), speech.say('lessons.goal', { target: scoring.target }), envido && speech.say('lessons.envido')]
  return h('div', { class: 'log' }, said.filter(Boolean).map((text) => h('p', null, text)), ranks(ui, table, speech))
}
