// The main stake: asks and their answers, giving the hand up, and the question at the last point.

import { award, endRow } from './scoring.mjs'
import { plays } from './tricks.mjs'
import { actionOf, answered, governorOf, openOffer, otherSide, playersOf, sideOf, withHand } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Action} Action */
/** @typedef {import('./state.mjs').StakeAsk} StakeAsk */
/** @typedef {import('./state.mjs').LastPointAsk} LastPointAsk */
/** @typedef {import('./document.mjs').Stake} Stake */

/** The stakes above this one, before anything bounds them. @param {import('./document.mjs').Rules} rules @param {number} stake @returns {Stake[]} */
function stakesAbove({ ladder, target }, stake) {
  // rules.md 18.3: one step at a time
  if (Array.isArray(ladder)) return ladder.filter((each) => each > stake).slice(0, 1)
  switch (ladder) {
    case 'x2': return [2 * stake]
    // rules.md 5: from 1 to 2, then two more each time
    case '+2': return [stake === 1 ? 2 : stake + 2]
    case 'any': return Array.from({ length: Math.max(0, target - stake) }, (_, i) => stake + 1 + i)
    case 'trut': return ['trut']
    default: return []
  }
}

/**
 * The stakes that a side may ask for when the hand is worth `stake`.
 *
 * @param {State} state
 * @param {number} side
 * @param {number} stake
 * @returns {Stake[]}
 */
function asks({ rules, score }, side, stake) {
  const { cap, target, remainder } = rules
  // rules.md 13b.9: nothing above the stake for a side that already wins the game with it
  const isEnough = cap === 'no_overkill' && rules.pointsPerUnit === 0 && score[side].points + stake >= target
  // rules.md 4, "Cap": the stake may not take the leading side beyond the target
  const most = cap === 'strict' ? target - Math.max(...score.map(({ points }) => points)) : target
  const bounded = stakesAbove(rules, stake).filter((each) => !isEnough && (typeof each !== 'number' || each <= most))
  // rules.md 18.3 and 19.3: with "last" the whole game is the rung above the numbers
  const isLeft = remainder === 'last' && bounded.length > 0
  return remainder === 'none' || isLeft ? bounded : [...bounded, 'rest']
}

/** What a seat may ask for unprompted: on its turn, or where the rules say so right after its card. @param {State} state @param {number} seat @returns {Stake[]} */
export function openAsks(state, seat) {
  const { rules, hand: { row } } = state
  return seat === row.toAct || (rules.asksAfter && seat === row.last) ? asksOf(state, seat) : []
}

/** What a seat may ask for where it is its moment. @param {State} state @param {number} seat @returns {Stake[]} */
function asksOf(state, seat) {
  const { bets: { locked, right, offered, stake } } = state.hand
  return locked === null && right.includes(sideOf(seat)) && !offered.includes(seat) ? asks(state, sideOf(seat), stake) : []
}

/** The plays of a seat with an ask right after the card. @param {State} state @param {Action[]} cards its plays @returns {Action[]} */
export const playsWithAsk = (state, cards) => cards.filter(({ kind }) => state.rules.asksAfter && kind === 'play')
  .flatMap((action) => asksOf(state, action.seat).map((value) => ({ ...action, value })))

/** An ask unprompted, the one of this turn. @param {State} state @param {number} seat @param {Stake} stake @returns {State} */
export function ask(state, seat, stake) {
  const { hand: { offers, bets } } = state
  return withHand(state, {
    offers: [...offers, askOf(seat, stake)],
    // rules.md 4 and 13b.7: one a turn, or a seat could ask on and on before its card
    bets: { ...bets, offered: [...bets.offered, seat] }
  })
}

/** @param {number} seat @param {Stake} stake @returns {StakeAsk} */
const askOf = (seat, stake) => ({ what: 'stake', seat, side: sideOf(seat), stake })

/** Who may answer for a side. @param {State} state @param {number} side */
export function answerers(state, side) {
  if (state.rules.governorAnswers) return [governorOf(state, side)]
  return playersOf(state).filter((seat) => sideOf(seat) === side)
}

/** @param {State} state @param {StakeAsk} offer @param {number} seat @returns {Action[]} */
export function answersToAsk(state, { side, stake }, seat) {
  const { rules } = state
  if (sideOf(seat) === side) return []
  const isAnswerer = answerers(state, otherSide(side)).includes(seat)
  // rules.md 5, "Mon reste": taken by saying it too, never by a plain yes
  const isCounter = stake === 'rest' && rules.remainder === 'counter'
  const higher = rules.raisesInAnswer && typeof stake === 'number' && rules.alternate !== 'once'
    ? asks(state, sideOf(seat), stake)
    : []
  return [
    ...!isAnswerer ? [] : [
      isCounter ? actionOf(seat, 'raise', [], 'rest') : actionOf(seat, 'accept'),
      actionOf(seat, 'decline'),
      ...higher.map((value) => actionOf(seat, 'raise', [], value))
    ],
    ...rules.isImplicit ? plays(state, seat) : []
  ]
}

/** The stake asked for holds; who may ask next follows. @param {State} state @param {StakeAsk} offer @param {number} seat @returns {State} */
export function accept(state, { stake }, seat) {
  const { rules: { alternate }, hand: { bets } } = state
  const taken = answered(state)
  if (typeof stake !== 'number') return withHand(taken, { bets: { ...bets, locked: stake, right: [] } })
  const right = alternate === 'once' ? [] : alternate === 'yes' ? [sideOf(seat)] : [0, 1]
  return withHand(taken, { bets: { ...bets, stake, right } })
}

/** @param {State} state @param {StakeAsk} offer @param {Action} action @returns {State} */
export function answerAsk(state, offer, { seat, kind, value }) {
  // rules.md 1.6: the stake before the ask, in every game
  if (kind === 'decline') return endRow(state, offer.side)
  const taken = accept(state, offer, seat)
  const isHigher = kind === 'raise' && offer.stake !== 'rest'
  if (!isHigher) return taken
  return withHand(taken, { offers: [...taken.hand.offers, askOf(seat, /** @type {Stake} */ (value))] })
}

/** Whether a seat may give the hand up unasked. @param {State} state @param {number} seat */
export function mayConcede(state, seat) {
  const { rules, hand } = state
  if (hand.offers.length > 0 || !playersOf(state).includes(seat)) return false
  switch (rules.concede) {
    case 'any': return true
    case 'governor': return governorOf(state, sideOf(seat)) === seat
    case 'on_turn': return hand.phase === 'play' && seat === hand.row.toAct
    default: return false
  }
}

/** The sides at their last point. @param {State} state */
export function atLastPoint({ rules: { lastPoint, target }, score }) {
  if (lastPoint === null) return []
  return [0, 1].filter((side) => score[side].points >= target - lastPoint.at)
}

/** After the deal: one side at its last point is asked; both play for the game, without a word. @param {State} state @returns {State} */
export function askLastPoint(state) {
  const sides = atLastPoint(state)
  const { lastPoint } = state.rules
  const { bets } = state.hand
  if (lastPoint === null || sides.length === 0) return state
  // rules.md 2, "Eleven points": with both sides there nobody is asked, and nobody can bet
  if (sides.length === 2) return withHand(state, { bets: { ...bets, locked: 'rest', right: [] } })
  const { stake, decline } = lastPoint
  return withHand(state, { offers: [{ what: 'last_point', side: sides[0], stake, decline }] })
}

/** @param {State} state @param {LastPointAsk} offer @param {Action} action @returns {State} */
export function answerLastPoint(state, { side, stake, decline }, { kind }) {
  if (kind === 'decline') return endRow(state, otherSide(side), (now) => award(now, otherSide(side), decline))
  return withHand(answered(state), { bets: { ...state.hand.bets, stake, right: [] } })
}

/** The seats to which partners' cards are due before that question, as [giver, receiver], ascending. @param {State} state @returns {[number, number][]} */
export function owedShares(state) {
  const offer = openOffer(state)
  if (offer?.what !== 'last_point' || !state.rules.lastPoint?.share) return []
  const side = [...Array(state.seats).keys()].filter((seat) => sideOf(seat) === offer.side)
  return side.flatMap((giver) => side.filter((receiver) => receiver !== giver)
    .map((receiver) => /** @type {[number, number]} */ ([giver, receiver])))
}
