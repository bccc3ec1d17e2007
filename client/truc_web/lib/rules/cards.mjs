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

/**
 * More is stronger; equal strengths tie. `up` are the cards turned up.
 *
 * @param {Rules} rules
 * @param {number[]} up
 * @param {number} card
 */
export function strengthOf(rules, up, card) {
  if (card === COVERED) return 0
  const { pack, strengths, turnup } = rules
  if (turnup !== null && up.length > 0) {
    /** @type {string[]} */
    const cycle = turnup.cycle
    const raised = cycle[(cycle.indexOf(rankOf(pack[up[0]])) + 1) % cycle.length]
    if (rankOf(pack[card]) === raised) return pack.length + turnup.suits.length - turnup.suits.indexOf(suitOf(pack[card]))
  }
  return strengths[card]
}

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
 * @param {number[]} cards
 */
export function envidoValue(rules, cards) {
  return Math.max(...envidoCards(rules, cards).map((slots) => worth(rules, slots.map((slot) => cards[slot]))))
}

/** @param {Rules} rules @param {number[]} cards one, or two of a suit */
const worth = ({ numbers }, cards) =>
  cards.reduce((sum, card) => sum + numbers[card], cards.length > 1 ? SUIT_BONUS : 0)

/**
 * The slots that may make an envido: each card alone, and the pairs of a suit.
 *
 * @param {Rules} rules
 * @param {number[]} cards
 */
function envidoCards({ pack }, cards) {
  const slots = cards.map((_, slot) => slot)
  const pairs = slots.flatMap((one) => slots.filter((other) =>
    one < other && suitOf(pack[cards[one]]) === suitOf(pack[cards[other]])).map((other) => [one, other]))
  return [...slots.map((slot) => [slot]), ...pairs]
}

/**
 * The lists of slots of cards that make this value.
 *
 * @param {Rules} rules
 * @param {number[]} cards
 * @param {number} value
 */
export const proofsOfEnvido = (rules, cards, value) =>
  envidoCards(rules, cards).filter((slots) => worth(rules, slots.map((slot) => cards[slot])) === value)

/** @param {Rules} rules @param {number[]} cards a flor */
export const florValue = ({ numbers }, cards) => cards.reduce((sum, card) => sum + numbers[card], SUIT_BONUS)

/**
 * Whether cards are a flor; null where those that are known could belong to one.
 *
 * @param {Rules} rules
 * @param {Card[]} cards
 * @returns {boolean | null}
 */
export function isFlor(rules, cards) {
  const known = /** @type {number[]} */ (cards.filter((card) => card !== null))
  if (!couldBeFlor(rules, known)) return false
  return known.length === cards.length ? known.length > 0 : null
}

/** Whether these cards can be of one flor. @param {Rules} rules @param {number[]} cards */
export function couldBeFlor({ pack, runs, flor }, cards) {
  if (cards.some((card) => suitOf(pack[card]) !== suitOf(pack[cards[0]]))) return false
  if (flor?.kind !== 'run' || cards.length < 2) return true
  const places = cards.map((card) => runs[card])
  return Math.max(...places) - Math.min(...places) <= 2
}

/** What cards are worth in a contest. @param {Rules} rules @param {'envido' | 'flor'} contest @param {number[]} cards */
export const valueIn = (rules, contest, cards) => contest === 'flor' ? florValue(rules, cards) : envidoValue(rules, cards)

/** The values that some cards make: 0 to 7 and 20 to 33 of an envido, 20 to 38 of a flor. @param {'envido' | 'flor'} contest */
export const possibleValues = (contest) => contest === 'flor' ? range(20, 38) : [...range(0, 7), ...range(20, 33)]

/** @param {number} from @param {number} to */
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
