// What is opened when a hand is over: what the rules force open, and what an owner may show.

import { couldBeFlor, isFlor, proofsOfEnvido } from './cards.mjs'
import { actionOf, withHand } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Action} Action */

/** Subsets of up to three slots, the fewest first, of equally many those of the lowest slots. */
const SUBSETS = [[], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]

/** The slots of a seat that lie face up. @param {State} state @param {number} seat */
export function openSlots({ hand: { row, covered, shown, cards } }, seat) {
  return cards[seat].map((_, slot) => slot).filter((slot) => {
    const isCovered = covered.some(([owner, one]) => owner === seat && one === slot)
    const isShown = shown.some(([owner, card]) => owner === seat && card === cards[seat][slot])
    return isShown || (!isCovered && !row.left[seat].includes(slot))
  })
}

/**
 * What the rules force open besides, seats ascending, slots ascending; of the seats whose cards are known. Each proof by
 * itself opens the fewest slots that do.
 *
 * @param {State} state whose hand is over
 * @returns {[seat: number, slots: number[]][]}
 */
export function owedShows(state) {
  const { hand: { phase, cards } } = state
  if (phase !== 'over' || cards.length === 0) return []
  return cards.flatMap((own, seat) => {
    if (own.includes(null)) return []
    const known = /** @type {number[]} */ (own)
    const open = openSlots(state, seat)
    const hidden = SUBSETS.filter((slots) => slots.every((slot) => slot < known.length && !open.includes(slot)))
    const owed = new Set(needsOf(state, seat).flatMap((isMet) =>
      hidden.find((slots) => isMet([...open, ...slots], known)) ?? []))
    return owed.size === 0 ? [] : [/** @type {[number, number[]]} */ ([seat, [...owed].sort()])]
  })
}

/** The seats that have something to prove, as far as known, whether or not it lies open already. @param {State} state */
export const provingSeats = (state) =>
  state.hand.cards.map((_, seat) => seat).filter((seat) => needsOf(state, seat).length > 0)

/**
 * What the open slots of a seat must show.
 *
 * @param {State} state
 * @param {number} seat
 * @returns {((open: number[], cards: number[]) => boolean)[]}
 */
function needsOf({ rules, hand: { up, proven, contests } }, seat) {
  return [...proven.map(([, one]) => one), contests].flatMap(({ flores, said, claims, owed, areSettled }) => [
    ...!flores.includes(seat) && !(areSettled && owed.length > 0) ? [] : [
      (/** @type {number[]} */ open, /** @type {number[]} */ cards) => open.length === cards.length
    ],
    ...said.filter(([owner]) => owner === seat).map(([, value]) =>
      (/** @type {number[]} */ open, /** @type {number[]} */ cards) =>
        proofsOfEnvido(rules, up, cards, value).some((slots) => slots.every((slot) => open.includes(slot)))),
    ...!areSettled ? [] : claims.filter(([, target]) => target === seat).map(() =>
      (/** @type {number[]} */ open, /** @type {number[]} */ cards) => isFlor(rules, up, cards)
        ? open.length === cards.length
        // rules.md 8.6: two cards of different suits are the only proof that there is no flor
        : !couldBeFlor(rules, up, open.map((slot) => cards[slot])))
  ])
}

/** The shows of an owner: any of the cards it has not played. @param {State} state @param {number} seat @returns {Action[]} */
export function shows(state, seat) {
  const { rules, hand } = state
  if (!rules.ownerShows || hand.phase !== 'over' || hand.cards.length === 0) return []
  const open = openSlots(state, seat)
  const slots = hand.row.left[seat].filter((slot) => !open.includes(slot) && hand.cards[seat][slot] !== null)
  return SUBSETS.filter((some) => some.length > 0 && some.every((slot) => slots.includes(slot)))
    .map((some) => actionOf(seat, 'show', some.map((slot) => /** @type {number} */ (hand.cards[seat][slot]))))
}

/** @param {State} state @param {Action} action @returns {State} */
export const show = (state, { seat, cards }) => withHand(state, {
  shown: [...state.hand.shown, ...cards.map((card) => /** @type {[number, number]} */ ([seat, card]))]
})
