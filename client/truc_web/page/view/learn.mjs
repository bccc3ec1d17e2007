// How a game is played, on a few cards: a hand, the order, raising, envido, flor, signs, and why nobody can choose the cards.
// The words are those that a learner is told in a terminal; what a game has is read from its rule document.

import { h } from '../h.mjs'
import { familiesOf, familyOf } from '../games.mjs'
import { card } from './cards.mjs'
import { packOf } from './model.mjs'
import { choice, part, room } from './room.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../words.mjs').Speech} Speech */
/** @typedef {import('./cards.mjs').Pack} Pack */

/** A hand worth showing for envido: two of a suit. */
const PAIR = 2
const MOST_SIGNS = 9

/** @param {Ui} ui */
export function screen(ui) {
  const { state, speech } = ui
  if (state.server === null) return room(ui, 'learn', speech.say('learn.title'))
  const families = familiesOf(state.server.variants, { tongue: speech.catalogue.lang, last: null })
  const wanted = state.screen.game ?? families.find(({ name }) => name === familyOf(location.hash.slice(1)))?.name ?? families[0].name
  const game = families.find(({ name }) => name === wanted)?.forms[0].name ?? families[0].forms[0].name
  ui.once('rules', game, () => ui.fetch(`rules ${game}`, 'rules', { variant: game }))
  const rules = state.answers[`rules ${game}`]?.rules
  return room(ui, 'learn', speech.say('learn.title'),
    choice(speech.say('lobby.form'), families.map(({ name }) => ({ value: name, text: ui.gameName(name) })), wanted, (name) => ui.put('game', name)),
    rules === undefined ? h('p', { class: 'dim' }, speech.say('page.connecting')) : lessons(ui, rules, speech.of(rules)),
    h('p', { class: 'go' }, h('button', { class: 'b yes', onclick: () => practise(ui, game) }, h('b', null, speech.say('learn.practise')), h('small', null, speech.say('learn.practise_how')))))
}

/** @param {Ui} ui @param {string} variant */
async function practise(ui, variant) {
  ui.set('isTaught', true)
  const offer = ui.state.server.variants.find((/** @type {any} */ { name }) => name === variant)
  // no clock runs for somebody who learns
  const answer = await ui.ask('create', { variant, seats: offer.seats[0], options: { decision_ms: 0, ...(ui.state.me.isKeyed ? {} : { guests: offer.seats[0] }) } })
  if (answer === null) return
  ui.go(`/t/${answer.table}`)
  ui.ask('ready', { table: answer.table }, { isQuiet: true })
}

/** @param {Ui} ui @param {import('../session/plain.mjs').Rules} rules @param {Speech} speech */
function lessons(ui, { pack: names, params }, speech) {
  const pack = packOf(speech, ui.settings.isFour)
  return [hand, order, raising, envido, flor, signs, fair].map((lesson) => lesson(names, params, speech, pack)).filter(Boolean)
}

/** The cards from strong to weak, one for each place. @param {string[]} names @param {any} params @returns {string[]} */
const ranked = (names, { order: entries }) => entries.map((/** @type {string} */ entry) => names.includes(entry.split(' ')[0]) ? entry.split(' ')[0] : names.find((name) => name.slice(0, -1) === entry.split(' ')[0] && !entries.some((/** @type {string} */ other) => other.split(' ').includes(name))) ?? '')

/** @param {string[]} cards @param {Pack} pack @param {number} [won] which of them takes the trick */
const row = (cards, pack, won = -1) => h('div', { class: 'lesson-cards' }, cards.map((name, i) => card(name, pack, { class: i === won ? 'won' : '' })))

/** @typedef {(names: string[], params: any, speech: Speech, pack: Pack) => any} Lesson */

/** @type {Lesson} */
function hand(names, params, speech, pack) {
  const cards = ranked(names, params)
  return part(speech.say('learn.hand'), null, row([cards[5], cards[1]], pack, 1), h('p', null, speech.say('lessons.hand')),
    h('p', null, speech.say('lessons.goal', { target: params.scoring.target })), params.match > 1 && h('p', null, speech.say('lessons.match', { n: params.match })))
}

/** @type {Lesson} */
function order(names, params, speech, pack) {
  return part(speech.say('page.strong_to_weak'), null, row(ranked(names, params), pack),
    params.turnup !== null && h('p', null, speech.say('learn.turn_up')), h('p', null, speech.say('lessons.tied')))
}

/** @type {Lesson} */
function raising(_, params, speech) {
  /** @type {number[]} */
  const stakes = Array.isArray(params.ladder) ? params.ladder.slice(1) : []
  const words = stakes.map((stake) => speech.move({ key: `raise ${stake}`, kind: 'raise', hints: {} }, '', []))
  return part(speech.say('learn.raising'), null,
    words.length > 0 && h('p', null, words.map(({ word, gloss }, i) => [i > 0 && ' → ', h('b', { lang: speech.tongue }, word), gloss !== '' && ` (${gloss})`])),
    h('p', null, speech.meaning('raise')), h('p', null, speech.say('lessons.asked')), h('p', null, speech.say('lessons.scored-declined')))
}

/** @type {Lesson} */
function envido(names, { envido: rules }, speech, pack) {
  if (rules === null) return null
  const pair = ['7e', '5e'].filter((name) => names.includes(name))
  return part(speech.move({ key: 'envido', kind: 'envido', hints: {} }, '', []).word, null,
    pair.length === PAIR && row(pair, pack), h('p', null, speech.say('lessons.envido')))
}

/** @type {Lesson} */
function flor(names, { flor: rules }, speech, pack) {
  if (rules === null) return null
  const suit = names[0].slice(-1)
  return part(speech.move({ key: 'flor', kind: 'flor', hints: {} }, '', []).word, null, row(names.filter((name) => name.endsWith(suit)).slice(3, 6), pack), h('p', null, speech.meaning('flor')))
}

/** @type {Lesson} */
function signs(_, { signals, players }, speech) {
  if (signals === null || Math.max(...players) < 4) return null
  return part(speech.say('page.signs'), null, h('dl', { class: 'keys' }, signals.vocabulary.slice(0, MOST_SIGNS).map((/** @type {string} */ name) => {
    const { word, gesture } = speech.sign(name)
    return [h('dt', { lang: speech.tongue }, word), h('dd', null, gesture)]
  })), h('p', null, speech.say(signals.visible_to === 'table' ? 'page.signs_seen_by_all' : 'page.signs_seen_by_partner')))
}

/** @type {Lesson} */
const fair = (_, __, speech) => part(speech.say('page.nobody_chooses'), null, h('p', null, speech.say('page.nobody_chooses_how')))
