// Below the felt: what is asked, and the bids in their slots.

import { h } from '../h.mjs'
import { download, invite } from '../sharing.mjs'
import { awaited } from '../state/table.mjs'
import { capital } from '../words.mjs'
import { answeringOf, askOf, buttonsOf } from './model.mjs'

const COLUMNS = 12
const MOST_IN_A_ROW = 4
const LONG_WORD = 8     // letters; four slots with longer ones do not fit beside each other on a phone
const TONES = { yes: 'yes', no: 'no', raise: 'ra', plain: '' }

/** They come first, side by side. */
const ANSWERS = ['accept', 'decline']

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
export function dock(ui, table, speech) {
  const { strong, more } = askOf(table, speech, ui.state.screen.armed ?? null)
  const clock = awaited(table).length > 0 && table.ended === null ? ui.clockOf(table) : null
  return h('section', { class: 'dock', 'aria-label': speech.say('page.moves') },
    h('p', { class: 'ask' },
      clock !== null && h('span', { class: `av${clock.isLate ? ' late' : ''}`, style: { '--t': String(clock.left) }, 'aria-hidden': 'true' }, h('b', null, clock.text)),
      h('span', null, strong !== '' && h('strong', null, strong), ' ', more)),
    table.seat !== null && (table.view.phase === 'none' || table.ended !== null ? before(ui, table, speech) : bids(ui, table, speech)),
    chooser(ui, table, speech))
}

/** Before the match and after it. @param {Ui} ui @param {Table} table @param {Speech} speech */
function before(ui, table, speech) {
  const seat = table.shown?.seats[/** @type {number} */ (table.seat)]
  const isFull = table.shown?.seats.every((/** @type {any} */ { kind }) => kind !== 'empty')
  const isOver = table.ended !== null
  const fields = { table: table.code }
  // the host's bots leave after each match, and are called again to where somebody is ready; who sits down is ready at once
  const asksReady = seat?.ready !== true && (isFull || isOver)
  const width = isOver ? widthsOf(2 + Number(table.proof.isWhole), MOST_IN_A_ROW)[0] : 'w12'
  return h('div', { class: 'acts' },
    asksReady && h('button', { class: 'b yes w12', onclick: () => ui.ask('ready', fields) }, h('b', null, speech.say(isOver ? 'page.again' : 'page.ready_button'))),
    !isFull && !asksReady && h('button', { class: 'b yes w12', onclick: () => invite(ui, table) }, h('b', null, speech.say('page.invite')), h('small', null, speech.say('page.invite_how'))),
    isOver && h('button', { class: `b ${width}`, onclick: () => ui.go(`/m/${table.match}`) }, h('b', null, speech.say('page.see_again'))),
    isOver && table.proof.isWhole && h('button', { class: `b ${width}`, onclick: () => download(ui, /** @type {string} */ (table.proof.kept)) }, h('b', null, speech.say('page.save_file'))),
    h('button', { class: `b ${width}`, onclick: () => ui.leave(table) }, h('b', null, speech.say('page.leave'))))
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function bids(ui, table, speech) {
  const armed = ui.state.screen.armed ?? null
  const buttons = buttonsOf(table, speech, armed)
  const signs = (table.shown?.n ?? 2) > 2 && table.rules?.params.signals
  const phrases = table.rules?.params.phrases ?? []
  const hasMore = Boolean(signs) || phrases.length > 0
  const isLong = buttons.some(({ word, isOwn }) => !isOwn && word.split(' ').some((/** @type {string} */ part) => part.length > LONG_WORD))
  const widths = widthsOf(buttons.length - ANSWERS.length + Number(hasMore), isLong ? MOST_IN_A_ROW - 1 : MOST_IN_A_ROW)
  return h('div', { class: 'acts' },
    buttons.map((each, i) => h('button', {
      key: each.id, 'data-slot': each.id, disabled: !each.isPossible, title: each.title,
      class: `b ${TONES[each.tone]} ${ANSWERS.includes(each.id) ? 'w6' : widths[i - ANSWERS.length]}${each.isPossible ? '' : ' low'}${each.isPressed ? ' pressed' : ''}${each.isArmed ? ' armed' : ''}`,
      'aria-pressed': each.isArming ? String(each.isArmed) : null, 'aria-keyshortcuts': each.letter,
      onclick: () => ui.press(table, each)
    }, h('kbd', { 'aria-hidden': 'true' }, each.letter), h('b', { lang: each.isOwn ? speech.tongue : null }, each.word), each.isPossible && each.gloss !== '' && h('small', null, each.gloss))),
    hasMore && h('button', { key: 'signs', class: `b ${widths.at(-1)}`, 'data-slot': 'signs', onclick: () => ui.put('sheet', 'signs') },
      h('kbd', { 'aria-hidden': 'true' }, speech.say('keys.signs')), h('b', null, speech.say(signs ? 'page.signs' : 'page.phrases'))))
}

/** How wide so many slots are on a phone, in twelfths: rows of so many at most, each of them full. @param {number} n @param {number} most */
function widthsOf(n, most) {
  const rows = Math.ceil(n / most)
  return Array.from({ length: rows }, (_, row) => Math.floor(n / rows) + Number(row < n % rows))
    .flatMap((each) => Array.from({ length: each }, () => `w${COLUMNS / each}`))
}

/** A slot with several moves in it: which one? @param {Ui} ui @param {Table} table @param {Speech} speech */
function chooser(ui, table, speech) {
  const open = ui.state.screen.chooser
  const slot = open && buttonsOf(table, speech, null).find(({ id }) => id === open)
  if (!slot || slot.options.length < 2) return null
  const names = (table.shown?.seats ?? []).map((/** @type {any} */ { name }) => name ?? '')
  return h('div', { class: 'veil', onclick: (/** @type {any} */ event) => event.target === event.currentTarget && ui.put('chooser', null) },
    h('section', { class: 'sheet small', role: 'dialog', 'aria-label': slot.word, 'data-dialog': 'chooser' }, h('h2', null, capital(slot.word)),
      h('div', { class: 'choices' }, slot.options.map((/** @type {any} */ option) => {
        const { word, isOwn, cost, gloss } = speech.move(option, answeringOf(table), names)
        const more = cost || gloss     // what tells apart those that the game has one word for
        return h('button', { class: 'b', key: option.key, onclick: () => ui.choose(table, option) }, h('b', { lang: isOwn ? speech.tongue : null }, word), more !== '' && h('small', null, more))
      })), h('button', { class: 'b', onclick: () => ui.put('chooser', null) }, h('b', null, speech.say('page.back')))))
}
