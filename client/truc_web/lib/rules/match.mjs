// What a seat may do, and what comes of it: the machines of the other modules, one for each phase and open offer.

import * as contests from './contests.mjs'
import { beforeDeal, answerRedeal, decideDeal, proposals, propose } from './deals.mjs'
import { allowedByOrder, giveOrder, orders } from './orders.mjs'
import { award, endRow } from './scoring.mjs'
import { show, shows } from './shows.mjs'
import * as stakes from './stakes.mjs'
import { playCard, plays } from './tricks.mjs'
import { actionOf, answered, openOffer, otherSide, playersOf, seatsFrom, sideOf } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Action} Action */
/** @typedef {import('./state.mjs').Offer} Offer */

/** @typedef {'not_your_turn' | 'illegal_action' | 'void_bet'} Code why an action is refused, as the protocol says it */

const AT_ANY_TIME = ['show', 'claim', 'order']

/** An action that the rules do not allow. */
export class IllegalAction extends Error {
  /** @param {Code} code @param {Action} action */
  constructor(code, { seat, kind }) {
    super(`seat ${seat} may not ${kind}: ${code}`)
    this.code = code
  }
}

/**
 * All that a seat may do now.
 *
 * @param {State} state
 * @param {number} seat
 * @returns {Action[]}
 */
export function legal(state, seat) {
  const { hand: { phase } } = state
  switch (phase) {
    case 'cut':
    case 'count': return beforeDeal(state, seat)
    case 'deal': return []
    case 'over': return shows(state, seat)
    default: return [
      ...decisions(state, seat),
      ...stakes.mayConcede(state, seat) ? [actionOf(seat, 'concede')] : [],
      ...contests.claims(state, seat),
      ...orders(state, seat)
    ]
  }
}

/** @param {State} state @param {number} seat @returns {Action[]} */
function decisions(state, seat) {
  const { hand } = state
  const offer = openOffer(state)
  if (offer !== undefined) return [...answers(state, offer, seat), ...besides(state, offer, seat)]
  if (hand.phase === 'redeal') return proposals(state, seat)
  const cards = plays(state, seat)
  return [
    ...cards,
    ...stakes.playsWithAsk(state, cards).filter((action) => playCard(state, action).hand.phase === 'play'),
    ...stakes.openAsks(state, seat).map((stake) => actionOf(seat, 'raise', [], stake)),
    ...contests.openEnvido(state, seat),
    ...contests.openFlor(state, seat)
  ]
}

/** @param {State} state @param {Offer} offer @param {number} seat @returns {Action[]} */
function answers(state, offer, seat) {
  switch (offer.what) {
    case 'stake': return stakes.answersToAsk(state, offer, seat)
    case 'redeal': return offer.waiting[0] === seat ? yesOrNo(seat) : []
    case 'last_point': return offer.side === sideOf(seat) ? yesOrNo(seat) : []
    case 'envido': return contests.answersToEnvido(state, offer, seat)
    case 'flor': return contests.answersInRound(state, offer, seat)
    case 'contraflor': return contests.answersToContraflor(state, offer, seat)
    case 'saying': return contests.sayings(state, offer, seat)
  }
}

/** @param {number} seat */
const yesOrNo = (seat) => [actionOf(seat, 'accept'), actionOf(seat, 'decline')]

// The side bets that come before the answer.
/** @param {State} state @param {Offer} offer @param {number} seat @returns {Action[]} */
function besides(state, { what }, seat) {
  if (what === 'stake') return [...contests.openEnvido(state, seat), ...contests.openFlor(state, seat)]
  return what === 'envido' ? contests.openFlor(state, seat) : []
}

/** The seats that hold the decision for which the hand waits, ascending. @param {State} state @returns {number[]} */
export function deciders(state) {
  const { dealer, seats, hand: { phase, row } } = state
  const offer = openOffer(state)
  if (offer !== undefined) return holdersOf(state, offer).sort((a, b) => a - b)
  switch (phase) {
    case 'cut': return [(dealer + seats - 1) % seats]
    case 'count': return [dealer]
    case 'redeal': return [row.eldest]
    case 'play': return [row.toAct]
    default: return []
  }
}

/** @param {State} state @param {Offer} offer @returns {number[]} */
function holdersOf(state, offer) {
  switch (offer.what) {
    case 'stake': return stakes.answerers(state, otherSide(offer.side))
    case 'redeal': return offer.waiting.slice(0, 1)
    case 'last_point': return [...Array(state.seats).keys()].filter((seat) => sideOf(seat) === offer.side)
    case 'flor': return contests.speakers(state, offer.waiting)
    case 'saying': return contests.nextToSay(state, offer)
    default: return playersOf(state).filter((seat) => answers(state, offer, seat).length > 0)
  }
}

/** @param {Action} one @param {Action} other */
const isSame = (one, other) => one.kind === other.kind && one.value === other.value && one.seat === other.seat &&
  one.cards.length === other.cards.length && one.cards.every((card) => other.cards.includes(card))

/** Whether a seat may do this now. @param {State} state @param {Action} action */
export const isLegal = (state, action) => legal(state, action.seat).some((each) => isSame(each, action))

/** Why an action is refused; null if it is not. @param {State} state @param {Action} action @returns {Code | null} */
export function refusal(state, action) {
  if (isLegal(state, action)) return null
  const { rules, hand } = state
  const { seat, kind } = action
  const isWaited = deciders(state).includes(seat)
  // where giving up is for those whose turn it is, it is no illegal act but one that comes too soon
  const isOffTurn = rules.concede === 'on_turn' && hand.offers.length === 0 && !isWaited
  if (hand.phase === 'over' || AT_ANY_TIME.includes(kind) || (kind === 'concede' && !isOffTurn)) return 'illegal_action'
  // rules.md 2, "Turn": whoever lost the race with the next card did nothing wrong
  if (isLateAsk(state, action)) return 'void_bet'
  return isWaited ? 'illegal_action' : 'not_your_turn'
}

// An ask after one's card when another card lies on it already: of a seat of the newest trick, or of the last before it.
/** @param {State} state @param {Action} action */
function isLateAsk(state, { seat, kind }) {
  const { rules, seats, hand: { phase, row, offers } } = state
  if (kind !== 'raise' || !rules.asksAfter || phase !== 'play' || row.last === null || row.last === seat) return false
  const tricks = [...row.tricks, { leader: row.leader, cards: row.table }].map(({ leader, cards }) =>
    cards.map((_, place) => (leader + place * row.stride) % seats))
  const before = tricks.at(-2) ?? []
  const newest = row.table.length > 1 ? row.table.length : row.table.length === 1 ? 2 : before.length
  const isIn = tricks.flat().slice(-newest).includes(seat)
  return isIn && seat !== row.toAct && offers.every(({ what }) => what === 'stake')
}

/**
 * What comes of an action; throws IllegalAction.
 *
 * @param {State} state
 * @param {Action} action
 * @returns {State}
 */
export function play(state, action) {
  const code = refusal(state, action)
  if (code !== null) throw new IllegalAction(code, action)
  return take(state, action)
}

/** The same of an action that is known to be allowed. @param {State} state @param {Action} action @returns {State} */
export function take(state, action) {
  const { seat, kind, value } = action
  const offer = openOffer(state)
  switch (kind) {
    case 'cut':
    case 'tap':
    case 'deal': return decideDeal(state, action)
    case 'redeal':
    case 'stand': return propose(state, action)
    case 'cover':
    case 'blind': return playCard(offer === undefined ? state : taken(state, action), action)
    case 'play': return playWithAsk(offer === undefined ? state : taken(state, action), action)
    case 'show': return show(state, action)
    case 'order': return giveOrder(state, action)
    case 'claim': return contests.claim(state, action)
    case 'concede': return concede(state, seat)
    case 'envido':
    case 'real-envido':
    case 'falta-envido': return contests.callEnvido(state, action)
    case 'flor': return offer?.what === 'flor' ? contests.speakInRound(state, offer, action) : contests.declareFlor(state, seat)
    case 'raise': return offer?.what === 'stake'
      ? stakes.answerAsk(state, offer, action)
      : stakes.ask(state, seat, /** @type {import('./document.mjs').Stake} */ (value))
    default: return answer(state, /** @type {Offer} */ (offer), action)
  }
}

/** @param {State} state @param {Offer} offer @param {Action} action @returns {State} */
function answer(state, offer, action) {
  switch (offer.what) {
    case 'stake': return stakes.answerAsk(state, offer, action)
    case 'redeal': return answerRedeal(state, offer, action)
    case 'last_point': return stakes.answerLastPoint(state, offer, action)
    case 'envido': return contests.answerEnvido(state, offer, action)
    case 'flor': return contests.speakInRound(state, offer, action)
    case 'contraflor': return contests.answerContraflor(state, offer, action)
    case 'saying': return contests.speak(state, offer, action)
  }
}

// A card that is played accepts what is asked.
/** @param {State} state @param {Action} action */
function taken(state, { seat }) {
  const offer = openOffer(state)
  return offer?.what === 'stake' ? stakes.accept(state, offer, seat) : answered(state)
}

/** @param {State} state @param {Action} action @returns {State} */
function playWithAsk(state, action) {
  const { seat, value } = action
  const next = playCard(state, action)
  return value === null ? next : stakes.ask(next, seat, /** @type {import('./document.mjs').Stake} */ (value))
}

/** The hand is given up: the stake, and a bonus while envido could still be called. @param {State} state @param {number} seat @returns {State} */
function concede(state, seat) {
  const { rules } = state
  const winner = otherSide(sideOf(seat))
  // rules.md 8.5 and 13b.2
  const bonus = contests.openEnvido(state, seat).length > 0 ? rules.envido?.fold_bonus : 0
  if (bonus === 0) return endRow(state, winner)
  return endRow(state, winner, (now) => award(now, winner, now.hand.bets.stake + bonus, !now.hand.hasOpenClaim))
}

/**
 * The move that is made for the seat whose time runs out; null where nothing waits.
 *
 * @param {State} state
 * @returns {Action | null}
 */
export function ruled(state) {
  const { rules, hand } = state
  const seat = ruledSeat(state)
  if (seat === undefined) return null
  const offer = openOffer(state)
  if (offer?.what === 'saying') return actionOf(seat, 'good')
  // rules.md 8.6: who holds a flor has to declare it
  if (offer?.what === 'flor') return actionOf(seat, 'flor')
  if (offer !== undefined) return actionOf(seat, 'decline')
  if (hand.phase === 'redeal') return actionOf(seat, 'stand')
  if (hand.phase === 'cut') return actionOf(seat, 'cut')
  if (hand.phase === 'count') return actionOf(seat, 'deal', [], 3)
  if (rules.absent === 'concede') return actionOf(seat, 'concede')
  const slot = hand.row.left[seat].find((one) => allowedByOrder(state, seat, hand.cards[seat][one])) ?? hand.row.left[seat][0]
  if (hand.isBlind) return actionOf(seat, 'blind', [], slot)
  const card = hand.cards[seat][slot]
  return card === null ? actionOf(seat, 'play', [], slot) : actionOf(seat, 'play', [card])
}

// Where several hold the decision, the first after who asked, for the last point after the dealer. Who has said its
// flor comes before who would have to say it now.
/** @param {State} state */
function ruledSeat(state) {
  const offer = openOffer(state)
  const holders = deciders(state)
  const from = offer !== undefined && 'seat' in offer ? offer.seat : state.dealer
  const inOrder = seatsFrom((from + 1) % state.seats, state.seats).filter((seat) => holders.includes(seat))
  const { flores } = state.hand.contests
  return offer?.what === 'contraflor' ? inOrder.find((seat) => flores.includes(seat)) : inOrder[0]
}

/** The same as `play` for a ruled move, which needs no right to concede. @param {State} state @param {Action} action @returns {State} */
export const playRuled = (state, action) => action.kind === 'concede' ? concede(state, action.seat) : take(state, action)
