// How a match stands: a value that is never changed. Each machine of this folder makes the next one of it.
//
// A seat counts for side seat mod 2. The newest offer, the last of `offers`, is answered first. An unknown card is null:
// a state then is a reading, which takes what hangs on such a card as it comes (specification, section 8).

/** @typedef {import('./document.mjs').Rules} Rules */
/** @typedef {import('./document.mjs').Stake} Stake */
/** @typedef {import('./cards.mjs').Card} Card */

/**
 * What one seat does. `cards` are those of a play, a cover (none where it is not known: then `value` is its slot) or a
 * show; `value` is an ask, a stake, a number, a seat, a slot or an order.
 *
 * @typedef {{ seat: number, kind: string, cards: number[], value: number | string | null }} Action
 */

/** @typedef {{ upper: number, points: number }} Score */

/** A trick that is complete. @typedef {{ leader: number, cards: number[], side: number | null }} Trick */

/**
 * The tricks: who plays them, from `eldest` on each `stride` seats; the one on the table; who played the newest card;
 * and by seat the slots that are left.
 *
 * @typedef {{ eldest: number, stride: number, leader: number, toAct: number, table: number[], tricks: Trick[],
 *   last: number | null, left: number[][] }} Row
 */

/**
 * The main stake: its points, what is played for instead of them, the sides that may ask, the seats that have asked in
 * their present turn.
 *
 * @typedef {{ stake: number, locked: 'rest' | 'trut' | null, right: number[], offered: number[] }} Bets
 */

/** @typedef {'envido' | 'flor'} ContestName */

/**
 * What waits for an answer. `waiting` are those still to speak, of a flor those that may hold one, as far as known.
 *
 * @typedef {{ what: 'stake', seat: number, side: number, stake: Stake }} StakeAsk
 * @typedef {{ what: 'redeal', seat: number, waiting: number[] }} RedealAsk
 * @typedef {{ what: 'last_point', side: number, stake: number, decline: number }} LastPointAsk
 * @typedef {{ what: 'envido', seat: number, side: number, calls: string[] }} EnvidoAsk
 * @typedef {{ what: 'flor', seat: number, waiting: number[] }} FlorRound
 * @typedef {{ what: 'contraflor', seat: number, side: number, call: string, waiting: number[] }} ContraflorAsk
 * @typedef {{ what: 'saying', contest: ContestName, points: number[], waiting: number[], spoken: number[],
 *   silent: number[], said: [seat: number, value: number][] }} Saying
 * @typedef {StakeAsk | RedealAsk | LastPointAsk | EnvidoAsk | FlorRound | ContraflorAsk | Saying} Offer
 */

/**
 * What came of the side bets of these tricks: who declared a flor, or counts as if; who kept one quiet, as far as known;
 * the claims, by whom against whom; who won an envido with a value said; what an envido that the cards settle is worth, by side.
 *
 * @typedef {{ envidoClosed: boolean, florClosed: boolean, flores: number[], quiet: number[], claims: [number, number][],
 *   said: [seat: number, value: number][], owed: number[], areSettled: boolean }} Contests
 */

/** An order in force, and how many there were for that card. @typedef {{ word: string, given: number }} Ordered */

/**
 * One deal being played. `given` is what it has scored each side; `result` how the newest row of tricks ended, `trick`
 * the newest trick; `hasOpenClaim` whether a claim, or an envido, hangs on cards that are not known.
 *
 * @typedef {object} Hand
 * @property {'cut' | 'count' | 'deal' | 'redeal' | 'play' | 'over'} phase
 * @property {number} each
 * @property {number} redeals
 * @property {Card[][]} cards by seat and slot
 * @property {number[]} up
 * @property {[seat: number, card: number][]} shown
 * @property {[seat: number, slot: number][]} covered
 * @property {boolean} isBlind
 * @property {Row} row
 * @property {Bets} bets
 * @property {Offer[]} offers
 * @property {Contests} contests
 * @property {(Ordered | null)[]} orders by side
 * @property {[seat: number, contests: Contests][]} proven
 * @property {number[]} given
 * @property {number | 'draw' | null} result
 * @property {number | 'tie' | null} trick
 * @property {boolean} hasOpenClaim
 */

/**
 * @typedef {object} State
 * @property {Rules} rules
 * @property {number} seats
 * @property {number} dealer
 * @property {number[]} games
 * @property {Score[]} score
 * @property {number} number of this hand in its game, from 1
 * @property {number | null} gameWinner who won the game with this hand
 * @property {number | null} winner who won the match
 * @property {Hand} hand
 */

/** Games, units and points of each side, as records say them. @param {State} state */
export const scoreOf = ({ games, score }) => score.map(({ upper, points }, side) => [games[side], upper, points])

/** @param {number} seat */
export const sideOf = (seat) => seat % 2
/** @param {number} side */
export const otherSide = (side) => 1 - side

/** @param {State} state @param {Partial<Hand>} changes @returns {State} */
export const withHand = (state, changes) => ({ ...state, hand: { ...state.hand, ...changes } })

/** @param {number} seat @param {string} kind @param {number[]} [cards] @param {number | string | null} [value] @returns {Action} */
export const actionOf = (seat, kind, cards = [], value = null) => ({ seat, kind, cards, value })

/** @param {State} state @returns {Offer | undefined} */
export const openOffer = ({ hand: { offers } }) => offers[offers.length - 1]

/** @param {State} state @param {...Offer} offers that stand in place of the newest */
export const answered = (state, ...offers) => withHand(state, { offers: [...state.hand.offers.slice(0, -1), ...offers] })

/** @type {Map<number, readonly number[]>} */
const rows = new Map()

/** All seats from one on, in order of play: asked for over and over, so each row is made once. @param {number} first @param {number} seats @param {number} [stride] @returns {readonly number[]} */
export function seatsFrom(first, seats, stride = 1) {
  const name = (stride * 16 + seats) * 16 + first
  const found = rows.get(name)
  if (found !== undefined) return found
  const made = Object.freeze(Array.from({ length: seats / stride }, (_, i) => (first + i * stride) % seats))
  rows.set(name, made)
  return made
}

/** The seats that play these tricks, eldest first. @param {State} state */
export const playersOf = ({ hand: { row }, seats }) => seatsFrom(row.eldest, seats, row.stride)

/** Who decides for a side where sides are governed: the dealer, or eldest. @param {State} state @param {number} side */
export const governorOf = ({ dealer, seats }, side) => sideOf(dealer) === side ? dealer : (dealer + 1) % seats

/** Whether a seat has played no card of this deal. @param {Hand} hand @param {number} seat */
export const hasNotPlayed = ({ row, each }, seat) => row.left[seat].length === each

/** The cards of a seat that it has not played. @param {Hand} hand @param {number} seat @returns {Card[]} */
export const cardsLeft = ({ cards, row }, seat) => row.left[seat].map((slot) => cards[seat][slot])
