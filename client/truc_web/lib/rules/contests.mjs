// The side bets: envido, flor, the saying of values, and claims that a flor was kept quiet.

import { isFlor, possibleValues, valueIn } from './cards.mjs'
import { award } from './scoring.mjs'
import {
  actionOf, answered, hasNotPlayed, openOffer, otherSide, playersOf, sideOf, withHand
} from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Action} Action */
/** @typedef {import('./state.mjs').EnvidoAsk} EnvidoAsk */
/** @typedef {import('./state.mjs').FlorRound} FlorRound */
/** @typedef {import('./state.mjs').ContraflorAsk} ContraflorAsk */
/** @typedef {import('./state.mjs').Saying} Saying */

const CALLS = ['envido', 'real-envido', 'falta-envido']
const WORTH = /** @type {Record<string, number>} */ ({ envido: 2, 'real-envido': 3, 'falta-envido': 0 })
const FLOR_POINTS = 3
const FOLDED = 1

/** @param {State} state @param {Partial<import('./state.mjs').Contests>} changes @returns {State} */
const withContests = (state, changes) => withHand(state, { contests: { ...state.hand.contests, ...changes } })

/** The calls that may follow others: in their order, each so often. @param {State} state @param {string[]} before @returns {string[]} */
function nextCalls({ rules: { envido } }, before) {
  if (envido === null) return []
  /** @type {Record<string, number>} */
  const most = { envido: envido.max_envido, 'real-envido': envido.max_real, 'falta-envido': 1 }
  const from = before.length === 0 ? 0 : CALLS.indexOf(/** @type {string} */ (before.at(-1)))
  return CALLS.slice(from).filter((call) => before.filter((one) => one === call).length < most[call])
}

/** The envido calls that open the contest: before one's first card, on one's turn or asked for the first stake. @param {State} state @param {number} seat @returns {Action[]} */
export function openEnvido(state, seat) {
  const { rules, hand } = state
  const { envidoClosed, flores } = hand.contests
  // rules.md 8.4: before one's first card, once in a hand; 8.3: never once a truco is accepted
  const isOpen = rules.envido !== null && !envidoClosed && flores.length === 0 && hand.bets.locked === null &&
    hand.bets.stake === rules.firstStake && hasNotPlayed(hand, seat) && playersOf(state).includes(seat)
  if (!isOpen || !isMoment(state, seat)) return []
  return nextCalls(state, []).map((call) => actionOf(seat, call))
}

// On its turn with nothing open, or while the other side asks for a higher stake.
/** @param {State} state @param {number} seat */
function isMoment(state, seat) {
  const offer = openOffer(state)
  // rules.md 8.2: to an ask for the stake it is the side that is asked which may answer by a bet
  return offer === undefined ? seat === state.hand.row.toAct : offer.what === 'stake' && offer.side !== sideOf(seat)
}

/** @param {State} state @param {EnvidoAsk} offer @param {number} seat @returns {Action[]} */
export function answersToEnvido(state, { side, calls }, seat) {
  if (sideOf(seat) === side || !playersOf(state).includes(seat)) return []
  return ['accept', 'decline', ...nextCalls(state, calls)].map((kind) => actionOf(seat, kind))
}

/** @param {State} state @param {Action} action @returns {State} */
export function callEnvido(state, { seat, kind }) {
  const offer = openOffer(state)
  const before = offer?.what === 'envido' ? offer.calls : []
  const next = offer?.what === 'envido' ? answered(state) : state
  return withHand(next, {
    offers: [...next.hand.offers, { what: 'envido', seat, side: sideOf(seat), calls: [...before, kind] }]
  })
}

/** @param {string[]} calls */
export const sumOf = (calls) => calls.reduce((sum, call) => sum + WORTH[call], 0)

/** What who asks has of calls that are declined. @param {string[]} calls */
export const declinedPoints = (calls) => sumOf(calls.slice(0, -1)) || 1

/** @param {State} state @param {EnvidoAsk} offer @param {Action} action @returns {State} */
export function answerEnvido(state, { side, calls }, { kind }) {
  const closed = withContests(answered(state), { envidoClosed: true })
  if (kind === 'decline') return award(closed, side, declinedPoints(calls))
  const points = calls.includes('falta-envido') ? faltas(state) : [sumOf(calls), sumOf(calls)]
  if (state.rules.envido?.settle === 'hand_end') return withContests(closed, { owed: points })
  return say(closed, 'envido', points, [...playersOf(state)])
}

/** What falta envido is worth now, by the side that wins it. @param {State} state @returns {number[]} */
export function faltas({ rules: { envido, target }, score, hand: { hasOpenClaim } }) {
  // a score that a claim of an earlier duel may raise is never taken for more than it is (decision 3): by a falta that is
  // measured to it the game would seem won, and an honest match be refused
  if (hasOpenClaim) return [1, 1]
  const points = score.map((side) => side.points)
  const most = Math.max(...points)
  // rules.md 18.5: a score of exactly half the target is in the first half still
  const half = Math.floor(target / 2)
  const isInMalas = most <= half
  if (envido?.falta === 'malas-game' && isInMalas) return points.map((each) => target - each)
  const lacks = Math.max(1, (envido?.falta === 'malas-15' && isInMalas ? half : target) - most)
  return [lacks, lacks]
}

/** Whether a seat holds a flor, which who has said one does; null where that hangs on cards that are not known. @param {State} state @param {number} seat */
export const hasFlor = ({ rules, hand: { cards, up, contests } }, seat) => contests.flores.includes(seat) || isFlor(rules, up, cards[seat])

/** Whether a seat may yet say flor: it may hold one, and has played no card. @param {State} state @param {number} seat */
const maySayFlor = (state, seat) => hasNotPlayed(state.hand, seat) && hasFlor(state, seat) !== false

/** Saying flor first: on one's turn, to the other side's raise, or while any envido is open. @param {State} state @param {number} seat @returns {Action[]} */
export function openFlor(state, seat) {
  const { rules, hand: { contests } } = state
  if (rules.flor === null || contests.florClosed || contests.flores.length > 0) return []
  if (!playersOf(state).includes(seat) || !maySayFlor(state, seat)) return []
  return isMoment(state, seat) || openOffer(state)?.what === 'envido' ? [actionOf(seat, 'flor')] : []
}

/** The seats of a round that may speak: the first that surely holds a flor, and those before it that may. @param {State} state @param {number[]} waiting */
export function speakers(state, waiting) {
  const holders = waiting.filter((seat) => hasFlor(state, seat) !== false)
  const first = holders.findIndex((seat) => hasFlor(state, seat))
  return first < 0 ? holders : holders.slice(0, first + 1)
}

/** @param {State} state @param {FlorRound} offer @param {number} seat @returns {Action[]} */
export function answersInRound(state, { waiting }, seat) {
  if (!speakers(state, waiting).includes(seat)) return []
  // rules.md 8.6: one cannot challenge one's own side
  const isAgainst = state.rules.flor?.challenge && state.hand.contests.flores.some((other) => sideOf(other) !== sideOf(seat))
  return ['flor', ...isAgainst ? ['flor-fold', 'contraflor', 'contraflor-rest'] : []].map((kind) => actionOf(seat, kind))
}

/** The first flor: it makes open envidos void; who else holds one speaks next. @param {State} state @param {number} seat @returns {State} */
export function declareFlor(state, seat) {
  const { hand } = state
  const players = playersOf(state)
  const others = players.slice(players.indexOf(seat) + 1).concat(players.slice(0, players.indexOf(seat)))
  // rules.md 8.6: whoever has played cannot declare any more, and kept quiet what it holds
  const quiet = others.filter((other) => !hasNotPlayed(hand, other) && hasFlor(state, other) !== false)
  const waiting = others.filter((other) => maySayFlor(state, other))
  // rules.md 8.6: calls of envido are void; an ask for the stake below them still waits for its answer
  const offers = hand.offers.filter(({ what }) => what !== 'envido')
  const declared = withContests(withHand(state, { offers: [...offers, { what: 'flor', seat, waiting }] }),
    { flores: [seat], quiet, envidoClosed: true })
  return waiting.length === 0 ? closeRound(declared) : declared
}

/** @param {State} state @param {FlorRound} offer @param {Action} action @returns {State} */
export function speakInRound(state, { waiting }, { seat, kind }) {
  const { hand: { contests } } = state
  const flores = [...contests.flores, seat]
  const left = waiting.slice(waiting.indexOf(seat) + 1)
  if (kind === 'flor') {
    const spoken = withContests(answered(state, { what: 'flor', seat, waiting: left }), { flores })
    return left.length === 0 ? closeRound(spoken) : spoken
  }
  const spoken = withContests(state, { flores })
  if (kind === 'flor-fold') return foldFlor(counted(answered(spoken), left), sideOf(seat))
  return answered(spoken, { what: 'contraflor', seat, side: sideOf(seat), call: kind, waiting: left })
}

/** Those who were still to say a flor count as if they had, as far as it is sure. @param {State} state @param {number[]} waiting @returns {State} */
function counted(state, waiting) {
  const { flores } = state.hand.contests
  const more = waiting.filter((seat) => !flores.includes(seat) && hasFlor(state, seat))
  return withContests(state, { flores: [...flores, ...more] })
}

/** @param {State} state @param {number} side that gives the flor up @returns {State} */
function foldFlor(state, side) {
  const { flores } = state.hand.contests
  const theirs = flores.filter((seat) => sideOf(seat) !== side).length
  return award(withContests(state, { florClosed: true }), otherSide(side), FLOR_POINTS * theirs + FOLDED)
}

/** All have said their flores and nobody challenged. @param {State} state @returns {State} */
function closeRound(state) {
  const { flores } = state.hand.contests
  const closed = withContests(answered(state), { florClosed: true })
  const sides = new Set(flores.map(sideOf))
  // rules.md 13b.1: there is nothing to compare
  if (sides.size === 1) return award(closed, sideOf(flores[0]), FLOR_POINTS * flores.length)
  return say(closed, 'flor', [0, 0], playersOf(state).filter((seat) => flores.includes(seat)))
}

/** @param {State} state @param {ContraflorAsk} offer @param {number} seat @returns {Action[]} */
export function answersToContraflor({ hand: { contests: { flores } } }, { side, call, waiting }, seat) {
  if (sideOf(seat) === side || !(flores.includes(seat) || waiting.includes(seat))) return []
  return ['accept', 'decline', ...call === 'contraflor' ? ['contraflor-rest'] : []].map((kind) => actionOf(seat, kind))
}

/** @param {State} state @param {ContraflorAsk} offer @param {Action} action @returns {State} */
export function answerContraflor(state, { call, waiting }, { seat, kind }) {
  const { flores } = state.hand.contests
  const next = flores.includes(seat) ? state : withContests(state, { flores: [...flores, seat] })
  const left = waiting.filter((other) => other !== seat)
  if (kind === 'contraflor-rest') {
    return answered(next, { what: 'contraflor', seat, side: sideOf(seat), call: kind, waiting: left })
  }
  const closed = withContests(counted(answered(next), left), { florClosed: true })
  if (kind === 'decline') return foldFlor(closed, sideOf(seat))
  const besides = call === 'contraflor' ? 0 : lacking(state)
  const holders = playersOf(state).filter((other) => closed.hand.contests.flores.includes(other) || left.includes(other))
  return say(closed, 'flor', [besides, besides], holders)
}

/** @param {State} state what the leading side lacks */
const lacking = ({ rules: { target }, score, hand: { hasOpenClaim } }) =>
  hasOpenClaim ? 0 : Math.max(0, target - Math.max(...score.map(({ points }) => points)))

/** @param {State} state @param {import('./state.mjs').ContestName} contest @param {number[]} points @param {number[]} waiting @returns {State} */
const say = (state, contest, points, waiting) => withHand(state, {
  offers: [...state.hand.offers, { what: 'saying', contest, points, waiting, spoken: [], silent: [], said: [] }]
})

/** @param {State} state @param {Saying} offer @param {number} seat @returns {Action[]} */
export function sayings(state, offer, seat) {
  const { rules, hand: { cards, up } } = state
  const { contest, waiting, spoken, silent, said } = offer
  if (!nextToSay(state, offer).includes(seat)) return []
  const best = said.at(-1)
  const own = cards[seat]
  const values = own.includes(null)
    ? possibleValues(rules, contest)
    : [valueIn(rules, up, contest, /** @type {number[]} */ (own))]
  const mayWait = waiting.some((other) => other !== seat && sideOf(other) === sideOf(seat) && !spoken.includes(other))
  const isFirst = !spoken.includes(seat) && !silent.includes(seat)
  // rules.md 13b.1: a second turn is for a higher value or for giving in, so that the saying ends
  const maySilent = isFirst && ((best !== undefined && sideOf(best[0]) === sideOf(seat)) || mayWait)
  return [
    ...values.filter((value) => best === undefined || value > best[1]).map((value) => actionOf(seat, 'points', [], value)),
    actionOf(seat, 'good'),
    ...maySilent ? [actionOf(seat, 'silent')] : []
  ]
}

/** Who may be the next to say a value. @param {State} state @param {Saying} offer */
export const nextToSay = (state, { contest, waiting }) =>
  contest === 'flor' ? speakers(state, waiting) : waiting.slice(0, 1)

/** @param {State} state @param {Saying} offer @param {Action} action @returns {State} */
export function speak(state, offer, { seat, kind, value }) {
  const { contests } = state.hand
  const next = offer.contest === 'flor' && !contests.flores.includes(seat)
    ? withContests(state, { flores: [...contests.flores, seat] })
    : state
  if (kind === 'good') return settle(next, offer, otherSide(sideOf(seat)))
  const waiting = offer.waiting.slice(offer.waiting.indexOf(seat) + 1)
  const spoken = [...offer.spoken, seat]
  const silent = kind === 'silent' ? [...offer.silent, seat] : offer.silent.filter((other) => other !== seat)
  /** @type {[number, number][]} */
  const said = kind === 'points' ? [...offer.said, [seat, Number(value)]] : offer.said
  return goOn(next, { ...offer, waiting, spoken, silent, said })
}

/** When all have spoken, the silent seats of the side that is beaten speak again. @param {State} state @param {Saying} saying @returns {State} */
function goOn(state, saying) {
  const { waiting, silent, said } = saying
  const best = said.at(-1)
  if (best === undefined || waiting.some((seat) => !saying.spoken.includes(seat))) return answered(state, saying)
  const beaten = playersOf(state).filter((seat) => silent.includes(seat) && sideOf(seat) !== sideOf(best[0]))
  return beaten.length > 0 ? answered(state, { ...saying, waiting: beaten }) : settle(state, saying, sideOf(best[0]))
}

/** A side has won what was said. @param {State} state @param {Saying} saying @param {number} side @returns {State} */
function settle(state, { contest, points, said }, side) {
  const closed = answered(state)
  if (contest === 'flor') {
    const { flores } = closed.hand.contests
    // rules.md 19.5
    const paid = state.rules.flor?.pays === 'own' ? flores.filter((seat) => sideOf(seat) === side) : flores
    return award(closed, side, FLOR_POINTS * paid.length + points[side])
  }
  // rules.md 8.4, "Shown": only the value that won has to be proven, the last of its side
  const own = said.filter(([seat]) => sideOf(seat) === side).slice(-1)
  return award(withContests(closed, { said: own }), side, points[side])
}

/**
 * A flor contest that only seats with unknown cards could go on with is over as soon as something else is done.
 *
 * @param {State} state
 * @returns {State}
 */
export function settled(state) {
  const offer = openOffer(state)
  const isOver = (/** @type {number[]} */ waiting) => !waiting.some((seat) => hasFlor(state, seat))
  if (offer?.what === 'flor' && isOver(offer.waiting)) return closeRound(state)
  if (offer?.what === 'saying' && offer.contest === 'flor' && offer.said.length > 0 && isOver(offer.waiting)) {
    return goOn(state, { ...offer, waiting: [] })
  }
  return state
}

/** Claims that an opponent has kept a flor quiet: once for each, from its first card on. @param {State} state @param {number} seat @returns {Action[]} */
export function claims(state, seat) {
  const { rules, hand } = state
  const { flores, claims: made } = hand.contests
  const players = playersOf(state)
  if (!rules.flor?.claims || hand.phase !== 'play' || !players.includes(seat)) return []
  // rules.md 8.6: a target is claimed once a hand, by whichever opponent; 13b.4: once it has played
  return players.filter((target) => sideOf(target) !== sideOf(seat) && !hasNotPlayed(hand, target) &&
    !flores.includes(target) && !made.some(([, other]) => other === target))
    .map((target) => actionOf(seat, 'claim', [], target))
}

/** @param {State} state @param {Action} action @returns {State} */
export const claim = (state, { seat, value }) =>
  withContests(state, { claims: [...state.hand.contests.claims, [seat, Number(value)]] })
