// Before the cards are played: the match begins, hands follow each other, the cut and the count, cards, new cards.

import { askLastPoint, atLastPoint } from './stakes.mjs'
import { NO_CONTESTS, firstBets, rowFrom } from './scoring.mjs'
import { actionOf, answered, withHand } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Score} Score */
/** @typedef {import('./state.mjs').Action} Action */
/** @typedef {import('./cards.mjs').Card} Card */

const CARDS_EACH = 3

/**
 * A match at its first hand.
 *
 * @param {import('./document.mjs').Rules} rules
 * @param {{ seats: number, dealer: number, score?: Score[], games?: number[] }} table
 * @returns {State}
 */
export function begin(rules, { seats, dealer, score, games }) {
  return firstPhase({
    rules, seats, dealer, games: games ?? [0, 0], score: score ?? nothing(), number: 1, gameWinner: null, winner: null
  })
}

/** @returns {Score[]} */
const nothing = () => [{ upper: 0, points: 0 }, { upper: 0, points: 0 }]

/** The hand after this one. @param {State} state @returns {State} */
export function nextHand(state) {
  const { rules, seats, dealer, games, score, number, gameWinner, winner, hand } = state
  if (hand.phase !== 'over' || winner !== null) throw new RangeError('there is no next hand')
  const isNew = gameWinner !== null
  return firstPhase({
    rules, seats, dealer: (dealer + 1) % seats, games, score: isNew ? nothing() : score,
    number: isNew ? 1 : number + 1, gameWinner: null, winner: null
  })
}

/** @param {Omit<State, 'hand'>} match @returns {State} */
function firstPhase(match) {
  const { rules, seats, dealer } = match
  return {
    ...match,
    hand: {
      phase: rules.shortDeal ? 'cut' : 'deal',
      each: CARDS_EACH,
      redeals: 0,
      cards: [],
      up: [],
      shown: [],
      covered: [],
      isBlind: false,
      row: rowFrom((dealer + 1) % seats, isDuels(match) ? seats / 2 : 1, Array(seats).fill([])),
      bets: firstBets(rules),
      offers: [],
      contests: NO_CONTESTS,
      orders: [null, null],
      proven: [],
      given: [0, 0],
      result: null,
      trick: null,
      hasOpenClaim: false
    }
  }
}

// Every other hand is of duels, where the scores are in the range.
/** @param {Omit<State, 'hand'>} match */
function isDuels({ rules: { pica }, seats, number, score }) {
  // rules.md 8.7: the first hand is an ordinary one, and duels that the score rules out count as a step too
  if (pica === null || seats !== 6 || number % 2 === 1) return false
  const most = Math.max(...score.map(({ points }) => points))
  return most >= pica.min && most <= pica.max
}

/** @param {State} state @param {number} seat @returns {Action[]} */
export function beforeDeal({ dealer, seats, hand: { phase } }, seat) {
  // rules.md 2, "Cut and deal": left of the dealer, as play runs to the right
  if (phase === 'cut' && seat === (dealer + seats - 1) % seats) return [actionOf(seat, 'cut'), actionOf(seat, 'tap')]
  if (phase === 'count' && seat === dealer) return [actionOf(seat, 'deal', [], 3), actionOf(seat, 'deal', [], 1)]
  return []
}

/** @param {State} state @param {Action} action @returns {State} */
export function decideDeal(state, { kind, value }) {
  const { rules: { target }, score } = state
  if (kind === 'deal') return withHand(state, { phase: 'deal', each: Number(value) })
  // rules.md 2, "Cut and deal": near the target three cards are dealt whatever was cut or tapped
  const hasChoice = kind === 'tap' && score.every(({ points }) => points < target - 1)
  return withHand(state, { phase: hasChoice ? 'count' : 'deal' })
}

/**
 * Cards are dealt: by seat and slot, null where one is not known; `up` is the card turned up, of the first deal only.
 *
 * @param {State} state that waits for cards
 * @param {Card[][]} cards
 * @param {number[]} [up]
 * @returns {State}
 */
export function deal(state, cards, up = state.hand.up) {
  const { rules, seats, hand } = state
  if (hand.phase !== 'deal') throw new RangeError('no cards are due')
  const slots = Array.from({ length: hand.each }, (_, slot) => slot)
  const dealt = withHand(state, {
    cards,
    up,
    isBlind: rules.blind && atLastPoint(state).length === 2,
    row: { ...hand.row, left: Array(seats).fill(slots) }
  })
  return mayRedeal(dealt) ? withHand(dealt, { phase: 'redeal' }) : beginPlay(dealt)
}

/** @param {State} state @returns {State} */
const beginPlay = (state) => askLastPoint(withHand(state, { phase: 'play' }))

/** Whether new cards may be proposed: so often, and the pack has them. @param {State} state */
function mayRedeal({ rules: { redeal, pack, up }, seats, hand: { redeals, each } }) {
  if (redeal === null || (redeal.max !== 'pack' && redeals >= redeal.max)) return false
  // rules.md 3: new cards come from the rest of the pack, which has to have them
  return seats * each * (redeals + 2) + up <= pack.length
}

/** @param {State} state @param {number} seat @returns {Action[]} */
export const proposals = ({ hand: { row } }, seat) =>
  seat === row.eldest ? [actionOf(seat, 'redeal'), actionOf(seat, 'stand')] : []

/** @param {State} state @param {Action} action @returns {State} */
export function propose(state, { seat, kind }) {
  const { rules: { redeal }, dealer, seats } = state
  if (kind === 'stand') return beginPlay(state)
  const others = Array.from({ length: seats - 1 }, (_, i) => (seat + 1 + i) % seats)
  // rules.md 3 and 13.10: all others in seat order, or the dealer alone
  const waiting = redeal?.consent === 'dealer' ? [dealer] : others
  return withHand(state, { offers: [{ what: 'redeal', seat, waiting }] })
}

/** @param {State} state @param {import('./state.mjs').RedealAsk} offer @param {Action} action @returns {State} */
export function answerRedeal(state, offer, { kind }) {
  const waiting = offer.waiting.slice(1)
  if (kind === 'decline') return beginPlay(answered(state))
  if (waiting.length > 0) return answered(state, { ...offer, waiting })
  return withHand(answered(state), { phase: 'deal', redeals: state.hand.redeals + 1 })
}
