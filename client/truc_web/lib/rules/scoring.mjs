// Points make a game, games the match. A row of tricks is over here; then comes the next duel, or the hand is over.

import { envidoValue, isFlor } from './cards.mjs'
import { otherSide, playersOf, sideOf, withHand } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Row} Row */

const FLOR_POINTS = 3
const CLAIM_LOST = 1

/** @type {import('./state.mjs').Contests} */
export const NO_CONTESTS = {
  envidoClosed: false, florClosed: false, flores: [], quiet: [], claims: [], said: [], owed: [], areSettled: false
}

/** @param {State} state @param {number} side @param {number} points */
const given = ({ hand }, side, points) => hand.given.map((each, one) => one === side ? each + points : each)

/** The hand is over. @param {State} state @returns {State} */
const over = (state) => withHand(state, { phase: 'over', offers: [] })

/** A side has won the game, and perhaps the match. @param {State} state @param {number} side @returns {State} */
function winGame(state, side) {
  const games = state.games.map((each, one) => one === side ? each + 1 : each)
  return over({ ...state, games, gameWinner: side, winner: games[side] >= state.rules.gamesToWin ? side : null })
}

/**
 * A side scores; where the game ends at once with the target, it may have won it.
 *
 * @param {State} state
 * @param {number} side
 * @param {number} points
 * @param {boolean} [endsGame]
 * @returns {State}
 */
export function award(state, side, points, endsGame = true) {
  const { rules } = state
  const score = state.score.map((each, one) => one === side ? { ...each, points: each.points + points } : each)
  const next = withHand({ ...state, score }, { given: given(state, side, points) })
  // rules.md 8.1: once one side has the target, nothing that comes after is scored
  const isWon = rules.isImmediate && endsGame && score[side].points >= rules.target
  return isWon ? winGame(next, side) : next
}

/** A unit for a side: the other loses its odd points; so does this one if its points have made the unit. @param {State} state @param {number} side @param {number} kept @returns {State} */
function awardUnit(state, side, kept) {
  const score = state.score.map(({ upper, points }, one) =>
    // rules.md 7
    one === side ? { upper: upper + 1, points: kept } : { upper, points: 0 })
  const next = { ...state, score }
  return score[side].upper >= state.rules.target ? winGame(next, side) : next
}

/** What the winner of the hand gets: the stake, or what is played for instead. @param {State} state @param {number} side @returns {State} */
function awardStake(state, side) {
  const { rules, score, hand: { bets: { stake, locked } } } = state
  const { points } = score[side]
  // rules.md 1.7: whoever wins the remainder has the game, whatever the scores
  if (locked === 'rest') return winRest(state, side)
  if (rules.pointsPerUnit === 0) return award(state, side, stake, !state.hand.hasOpenClaim)
  // rules.md 7: who wins a trut that was bet keeps its odd points
  if (locked === 'trut') return awardUnit(state, side, points)
  // rules.md 7: points that fill a unit become one
  if (points + stake >= rules.pointsPerUnit) return awardUnit(state, side, 0)
  return { ...state, score: score.map((each, one) => one === side ? { ...each, points: points + stake } : each) }
}

/** The whole game: the score of the winner is set to the target. @param {State} state @param {number} side @returns {State} */
function winRest(state, side) {
  // rules.md 13b.11
  const next = award(state, side, Math.max(0, state.rules.target - state.score[side].points), false)
  return state.hand.hasOpenClaim ? next : winGame(next, side)
}

/**
 * The row of tricks is over: an envido that the cards settle, then claims, then the hand itself.
 *
 * @param {State} state
 * @param {number | null} side that has won it, null if nobody
 * @param {(state: State) => State} [score] what it is worth, the stake if not given
 * @returns {State}
 */
export function endRow(state, side, score = (now) => side === null ? now : awardStake(now, side)) {
  const settled = settleClaims(settleEnvido(withHand(state, { offers: [], result: side ?? 'draw' })))
  if (settled.gameWinner !== null) return settled
  const scored = score(settled)
  return scored.gameWinner === null ? nextRow(scored) : scored
}

/** An envido whose values are not said goes to the best cards dealt, of equal ones to those nearest to eldest. @param {State} state @returns {State} */
function settleEnvido(state) {
  const { rules, hand: { cards, up, contests } } = state
  if (contests.owed.length === 0) return state
  const next = withHand(state, { contests: { ...contests, areSettled: true } })
  const players = playersOf(state)
  if (players.some((seat) => cards[seat].includes(null))) return withHand(next, { hasOpenClaim: true })
  const values = players.map((seat) => envidoValue(rules, up, /** @type {number[]} */ (cards[seat])))
  // rules.md 18.4: indexOf finds the seat nearest to eldest among equals
  const side = sideOf(players[values.indexOf(Math.max(...values))])
  return award(next, side, contests.owed[side])
}

/** The claims as they were made, then the flores played out in silence, from eldest on. @param {State} state @returns {State} */
function settleClaims(state) {
  const { rules, hand: { cards, up, row, contests } } = state
  if (!rules.flor?.claims) return state
  const claimed = contests.claims.map(([, target]) => target)
  let next = withHand(state, { contests: { ...contests, areSettled: true } })
  for (const [claimer, target] of contests.claims) {
    const found = isFlor(rules, up, cards[target])
    if (found === null) next = withHand(next, { hasOpenClaim: true })
    else next = awardClaim(next, found ? sideOf(claimer) : sideOf(target), found ? FLOR_POINTS : CLAIM_LOST)
  }
  for (const seat of playersOf(state)) {
    // Once one was said, who could still say one has, or counts as if.
    const isQuiet = contests.flores.length === 0 || contests.quiet.includes(seat)
    // rules.md 8.6: a flor whose three cards were all played costs as much without a claim
    const isPlayedOut = row.left[seat].length === 0 && isFlor(rules, up, cards[seat]) === true
    if (!isQuiet || !isPlayedOut || claimed.includes(seat)) continue
    next = awardClaim(next, otherSide(sideOf(seat)), FLOR_POINTS)
  }
  return next
}

// Once the game is won, what comes after is not scored.
/** @param {State} state @param {number} side @param {number} points */
const awardClaim = (state, side, points) =>
  state.gameWinner === null ? award(state, side, points, !state.hand.hasOpenClaim) : state

/** The next duel, or the end of the hand. @param {State} state @returns {State} */
function nextRow(state) {
  const { seats, hand: { row, contests, proven } } = state
  if (row.stride === 1 || isLastDuel(state)) return endHand(over(state))
  return withHand(state, {
    row: rowFrom((row.eldest + 1) % seats, row.stride, row.left),
    bets: firstBets(state.rules),
    contests: NO_CONTESTS,
    proven: [...proven, [row.eldest, contests]]
  })
}

/** @param {State} state */
const isLastDuel = ({ dealer, seats, hand: { row } }) => (row.eldest - dealer - 1 + seats) % seats === row.stride - 1

/** @param {number} eldest @param {number} stride @param {number[][]} left @returns {Row} */
export const rowFrom = (eldest, stride, left) =>
  ({ eldest, stride, leader: eldest, toAct: eldest, table: [], tricks: [], last: null, left })

/** @param {import('./document.mjs').Rules} rules @returns {import('./state.mjs').Bets} */
export const firstBets = ({ firstStake }) => ({ stake: firstStake, locked: null, right: [0, 1], offered: [] })

// Where the end of the hand ends the game, the side with more has it; of equal ones nobody (rules.md 8.1).
/** @param {State} state @returns {State} */
function endHand(state) {
  const { rules, score: [ours, theirs], hand } = state
  if (rules.isImmediate || rules.pointsPerUnit > 0 || hand.hasOpenClaim || ours.points === theirs.points) return state
  const best = ours.points > theirs.points ? 0 : 1
  return state.score[best].points >= rules.target ? winGame(state, best) : state
}
