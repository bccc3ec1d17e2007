// Beside the felt: both scores out of the target, what the hand is worth, and the order of the cards.

import { h } from '../h.mjs'
import { capital } from '../words.mjs'
import { inLine, sticks } from './cards.mjs'
import { bottomOf, namesOf, orderOf, packOf, scoreOf } from './model.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
export function score(ui, table, speech) {
  const own = bottomOf(table) % 2
  return h('section', { class: 'score', 'aria-label': speech.say('screen.score') },
    team(table, speech, own, 'us'), table.view.stake !== undefined && worth(table, speech), team(table, speech, 1 - own, 'them'), ranks(ui, table, speech))
}

/** @param {Table} table @param {Speech} speech @param {number} side @param {string} look */
function team(table, speech, side, look) {
  const names = namesOf(table, speech)
  const { points, target, half, notes } = scoreOf(table, side, speech)
  const isOfGames = (table.rules?.params.match ?? 1) > 1
  const who = sideName(table, side, names, speech)
  const share = target > 0 ? Math.min(100, Math.round(100 * points / target)) : 0
  return h('div', { class: `team ${look}` },
    h('h2', null, h('span', null, who), h('b', null, points, target > 0 && h('small', null, ` / ${target}`))),
    target > 0 && sticks(points, Math.min(target, 60), half),
    h('div', { class: 'tiny', 'aria-hidden': 'true' }, h('i', { style: { width: `${share}%` } })),
    notes.length > 0 && h('p', { class: `half${isOfGames ? ' games' : ''}` }, notes.join(' · ')))
}

// With six seats the names would not fit.
/** @param {Table} table @param {number} side @param {string[]} known @param {Speech} speech */
function sideName({ seat, players }, side, known, speech) {
  if (players.length > 0 && players.every((name, each) => each % 2 !== side || name === null)) return capital(speech.say('page.free_seat'))
  const names = known.map((name, each) => players[each] === null ? speech.say('page.free_seat') : name)
  if (seat === null) return speech.side(side, names)
  if (names.length > 4) return speech.say(seat % 2 === side ? 'page.we' : 'page.they')
  const you = names.map((name, each) => each === seat ? speech.say('page.you') : name)
  return speech.joined(you.filter((_, each) => each % 2 === side).sort((a) => a === you[seat] ? -1 : 0))
}

/** @param {Table} table @param {Speech} speech */
function worth({ view, hand }, speech) {
  const stake = speech.stake(view.stake)
  const isNumber = typeof view.stake === 'number'
  const open = hand.asks.findLast((each) => each.answering === 'stake')
  const asked = open !== undefined ? capital(speech.say('page.asked', { stake: speech.stake(open.stake) })) : ''
  return h('div', { class: 'worth' }, h('b', { 'aria-hidden': 'true' }, isNumber ? stake : '★'),
    h('p', null, h('strong', null, speech.say('page.hand_worth', { stake })), asked))
}

/** The cards by their strength. @param {Ui} ui @param {Table} table @param {Speech} speech */
export function ranks(ui, table, speech) {
  const order = orderOf(table)
  const pack = packOf(speech, ui.settings.isFour)
  return order.length > 0 && h('div', { class: 'ranks' }, h('h2', null, speech.say('page.strong_to_weak')),
    h('ol', null, order.map(({ name, isHeld }) => h('li', { class: isHeld ? 'held' : '' },
      name.split(' ').map((each) => /[a-z]$/.test(each) ? inLine(each, pack) : speech.catalogue.letters[each] ?? each)))))
}
