// Cards by themselves: how strong each is, what a hand is worth in envido, whether it is a flor. Three pure functions
// that a page may call for cards it shows.
//
// A card is its index in the pack; null is one that is not known here.

import { rankOf, suitOf } from './document.mjs'

/** @typedef {import('./document.mjs').Rules} Rules */
/** @typedef {number | null} Card */

/** A card that lies face down: weaker than all, equal to another. */
export const COVERED = -1

const SUIT_BONUS = 20
const CARDS_EACH = 3

/**
 * What the cards are worth, by their index: strength, number in envido and flor, and whether they are pieces, which go
 * with any suit.
 *
 * @typedef {{ strengths: number[], numbers: number[], pieces: boolean[] }} Worths
 */

/** What the cards are worth beside those turned up. @param {Rules} rules @param {number[]} up @returns {Worths} */
function worthsBeside(rules, up) {
  const turned = rules.turnup === null ? -1 : up[0] ?? -1
  const found = rules.worthsByTurnUp.get(turned)
  if (found !== undefined) return found
  const { pack } = rules
  const raised = pack.map((_, card) => turned < 0 ? 0 : raisedBy(rules, turned, card))
  const places = pack.map((_, card) => turned < 0 ? -1 : pieceOf(rules, turned, card))
  const made = {
    strengths: rules.strengths.map((strength, card) => raised[card] > 0 ? pack.length + raised[card] : strength),
    numbers: rules.numbers.map((number, card) => places[card] < 0 ? number : rules.turnup?.numbers[places[card]]),
    pieces: places.map((place) => place >= 0)
  }
  rules.worthsByTurnUp.set(turned, made)
  return made
}

/** How high the card turned up raises another, 0 where it does not. @param {Rules} rules @param {number} turned @param {number} card */
function raisedBy(rules, turned, card) {
  const { pack, turnup } = rules
  const { cycle, suits, pieces } = /** @type {Record<string, any[]>} */ (turnup)
  if (pieces.length > 0) {
    const place = pieceOf(rules, turned, card)
    return place < 0 ? 0 : pieces.length - place
  }
  // rules.md 9: the rank that follows the one turned up, its cards by their suits
  const raised = cycle[(cycle.indexOf(rankOf(pack[turned])) + 1) % cycle.length]
  return rankOf(pack[card]) === raised ? suits.length - suits.indexOf(suitOf(pack[card])) : 0
}

/** Which piece a card is, by its place, -1 if none: one of the suit turned up, or what stands in for the card itself. @param {Rules} rules @param {number} turned @param {number} card */
function pieceOf({ pack, turnup }, turned, card) {
  /** @type {string[]} */
  const pieces = turnup?.pieces ?? []
  // rules.md 17.2 and 17.3: pieces are of the suit turned up; one that is turned up itself has a card that stands in
  if (card === turned || suitOf(pack[card]) !== suitOf(pack[turned])) return -1
  const rank = rankOf(pack[card])
  return pieces.indexOf(rank === turnup?.stand_in ? rankOf(pack[turned]) : rank)
}

/**
 * More is stronger; equal strengths tie. `up` are the cards turned up.
 *
 * @param {Rules} rules
 * @param {number[]} up
 * @param {number} card
 */
export const strengthOf = (rules, up, card) => card === COVERED ? 0 : worthsBeside(rules, up).strengths[card]

/** The cards from strong to weak, those that tie in one list. @param {Rules} rules @param {number[]} [up] */
export function orderOf(rules, up = []) {
  /** @type {Map<number, number[]>} */
  const levels = new Map()
  rules.pack.forEach((_, card) => {
    const strength = strengthOf(rules, up, card)
    levels.set(strength, [...levels.get(strength) ?? [], card])
  })
  return [...levels].sort(([a], [b]) => b - a).map(([, cards]) => cards)
}

/**
 * What cards are worth in envido: two of a suit 20 and both, the best two of three; else the highest alone.
 *
 * @param {Rules} rules
 * @param {number[]} up
 * @param {number[]} cards
 */
export const envidoValue = (rules, up, cards) => Math.max(...makings(rules, up, cards).map(({ worth }) => worth))

/**
 * What may make an envido: each card alone, and the pairs of a suit.
 *
 * @param {Rules} rules
 * @param {number[]} up
 * @param {number[]} cards
 * @returns {{ slots: number[], worth: number }[]}
 */
function makings(rules, up, cards) {
  const { numbers, pieces } = worthsBeside(rules, up)
  const slots = cards.map((_, slot) => slot)
  const isPair = (/** @type {number} */ one, /** @type {number} */ other) => pieces[one] || pieces[other] ||
    suitOf(rules.pack[one]) === suitOf(rules.pack[other])
  const pairs = slots.flatMap((one) => slots.filter((other) => one < other && isPair(cards[one], cards[other])).map((other) =>
    ({ slots: [one, other], worth: SUIT_BONUS + numbers[cards[one]] + numbers[cards[other]] })))
  return [...slots.map((slot) => ({ slots: [slot], worth: numbers[cards[slot]] })), ...pairs]
}

/**
 * The lists of slots of cards that make this value.
 *
 * @param {Rules} rules
 * @param {number[]} up
 * @param {number[]} cards
 * @param {number} value
 */
export const proofsOfEnvido = (rules, up, cards, value) =>
  makings(rules, up, cards).filter(({ worth }) => worth === value).map(({ slots }) => slots)

/** @param {Rules} rules @param {number[]} up @param {number[]} cards a flor */
export function florValue(rules, up, cards) {
  const { numbers, pieces } = worthsBeside(rules, up)
  // rules.md 19.5: with both pieces 30, 29 and the third card, above every other
  const more = rules.flor?.reserved ? Math.max(0, cards.filter((card) => pieces[card]).length - 1) : 0
  return cards.reduce((sum, card) => sum + numbers[card], SUIT_BONUS + SUIT_BONUS * more)
}

/**
 * Whether cards are a flor; null where those that are known could belong to one.
 *
 * @param {Rules} rules
 * @param {number[]} up
 * @param {Card[]} cards
 * @returns {boolean | null}
 */
export function isFlor(rules, up, cards) {
  const known = /** @type {number[]} */ (cards.filter((card) => card !== null))
  if (!couldBeFlor(rules, up, known)) return false
  return known.length === cards.length ? known.length > 0 : null
}

/** Whether these cards can be of one flor. @param {Rules} rules @param {number[]} up @param {number[]} cards */
export function couldBeFlor(rules, up, cards) {
  const { pack, runs, flor } = rules
  const { pieces } = worthsBeside(rules, up)
  const plain = cards.filter((card) => !pieces[card])
  if (plain.some((card) => suitOf(pack[card]) !== suitOf(pack[plain[0]]))) return false
  if (flor?.kind !== 'run' || cards.length < 2) return true
  const places = cards.map((card) => runs[card])
  return Math.max(...places) - Math.min(...places) <= 2
}

/** What cards are worth in a contest. @param {Rules} rules @param {number[]} up @param {'envido' | 'flor'} contest @param {number[]} cards */
export const valueIn = (rules, up, contest, cards) =>
  contest === 'flor' ? florValue(rules, up, cards) : envidoValue(rules, up, cards)

/** The values that some cards make: of an envido 0 to 7, and from 20 to that of the highest two; of a flor to that of three. @param {Rules} rules @param {'envido' | 'flor'} contest */
export function possibleValues({ turnup, flor }, contest) {
  const pieces = Math.min(CARDS_EACH, turnup?.numbers.length ?? 0)
  const more = flor?.reserved ? SUIT_BONUS * Math.max(0, pieces - 1) : 0
  const numbers = [7, 6, 5, ...turnup?.numbers ?? []].sort((a, b) => b - a)
  const most = numbers.slice(0, contest === 'flor' ? 3 : 2).reduce((sum, number) => sum + number, SUIT_BONUS)
  return contest === 'flor' ? range(SUIT_BONUS, most + more) : [...range(0, 7), ...range(SUIT_BONUS, most)]
}

/** @param {number} from @param {number} to */
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
