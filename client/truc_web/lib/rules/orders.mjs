// The governor's orders, and signs, which are no moves: they change nothing.

import { CARD_SIGNS, rankOf } from './document.mjs'
import { strengthOf } from './cards.mjs'
import { actionOf, cardsLeft, governorOf, sideOf, withHand } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Action} Action */
/** @typedef {import('./cards.mjs').Card} Card */

const MOST_ORDERS = 16
const WORDS = ['low', 'high', 'leave']

/** The partner of a governor, of four. @param {number} seat */
const partnerOf = (seat) => (seat + 2) % 4

/** The orders that a seat may give. @param {State} state @param {number} seat @returns {Action[]} */
export function orders(state, seat) {
  const { rules, hand } = state
  const isGoing = hand.phase === 'redeal' || hand.phase === 'play'
  if (rules.signals?.orders !== 'binding' || !isGoing || governorOf(state, sideOf(seat)) !== seat) return []
  if (hand.row.left[partnerOf(seat)].length === 0) return []
  const inForce = hand.orders[sideOf(seat)]
  if (inForce !== null && inForce.given >= MOST_ORDERS) return []
  return [...rules.ranks, ...WORDS].filter((word) => word !== inForce?.word)
    .map((word) => actionOf(seat, 'order', [], word))
}

/** @param {State} state @param {Action} action @returns {State} */
export function giveOrder(state, { seat, value }) {
  const side = sideOf(seat)
  const given = (state.hand.orders[side]?.given ?? 0) + 1
  return withHand(state, {
    orders: state.hand.orders.map((order, one) => one === side ? { word: String(value), given } : order)
  })
}

/** Whether the order in force lets a seat play this card next. @param {State} state @param {number} seat @param {Card} card */
export function allowedByOrder(state, seat, card) {
  const { rules, hand } = state
  const order = hand.orders[sideOf(seat)]
  if (order === null || governorOf(state, sideOf(seat)) === seat || card === null) return true
  const held = /** @type {number[]} */ (cardsLeft(hand, seat).filter((one) => one !== null))
  if (!WORDS.includes(order.word)) {
    const named = held.filter((one) => rankOf(rules.pack[one]) === order.word)
    // rules.md 13b.8: an order that cannot be followed binds
    // to nothing; a refusal would tell what the partner lacks
    return named.length === 0 || named.includes(card)
  }
  const strengths = held.map((one) => strengthOf(rules, hand.up, one))
  const wanted = order.word === 'high' ? Math.max(...strengths) : Math.min(...strengths)
  return strengthOf(rules, hand.up, card) === wanted
}

/** Who sees a sign of this seat; nobody where it may make none. @param {State} state @param {number} seat @returns {number[]} */
export function signReceivers(state, seat) {
  const { rules, seats, hand } = state
  const { vocabulary, truth, visible_to: visibleTo } = rules.signals ?? { vocabulary: [] }
  const isGoing = hand.phase === 'redeal' || hand.phase === 'play'
  if (vocabulary.length === 0 || !isGoing || (hand.isBlind && truth === 'enforced')) return []
  const others = [...Array(seats).keys()].filter((other) => other !== seat)
  // rules.md 6.4: to the governor only, where a side has one
  const partners = others.filter((other) => sideOf(other) === sideOf(seat) &&
    (!isGoverned(rules) || other === governorOf(state, sideOf(seat))))
  return visibleTo === 'table' && partners.length > 0 ? others : partners
}

// Where a side has a governor, its partner signs.
/** @param {import('./document.mjs').Rules} rules */
const isGoverned = ({ governorAnswers, signals }) =>
  governorAnswers || signals?.orders === 'binding' || signals?.visible_to === 'governor'

/** The words that a seat may sign now. @param {State} state @param {number} seat @returns {string[]} */
export function signs(state, seat) {
  const { rules, hand } = state
  if (signReceivers(state, seat).length === 0) return []
  /** @type {string[]} */
  const vocabulary = rules.signals?.vocabulary ?? []
  if (rules.signals?.truth !== 'enforced') return vocabulary
  return vocabulary.filter((word) => cardsLeft(hand, seat).some((card) => card === null ||
    CARD_SIGNS[word].some((name) => [rules.pack[card], rankOf(rules.pack[card])].includes(name))))
}
