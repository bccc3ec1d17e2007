// Cards are played, or covered, or played blind; tricks are won, and with them the hand.

import { COVERED, strengthOf } from './cards.mjs'
import { endRow } from './scoring.mjs'
import { allowedByOrder } from './orders.mjs'
import { actionOf, playersOf, sideOf, withHand } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Action} Action */

/** The plays of the seat to act, without an ask. @param {State} state @param {number} seat @returns {Action[]} */
export function plays(state, seat) {
  const { rules, hand } = state
  const { cards, row, isBlind } = hand
  if (seat !== row.toAct) return []
  if (isBlind) return row.left[seat].map((slot) => actionOf(seat, 'blind', [], slot))
  const slots = row.left[seat].filter((slot) => allowedByOrder(state, seat, cards[seat][slot]))
  const mayCover = rules.coverFromTrick > 0 && row.tricks.length + 1 >= rules.coverFromTrick
  const known = slots.flatMap((slot) => cards[seat][slot] ?? [])
  return [
    ...known.map((card) => actionOf(seat, 'play', [card])),
    ...!mayCover ? [] : slots.map((slot) => {
      const card = cards[seat][slot]
      return card === null ? actionOf(seat, 'cover', [], slot) : actionOf(seat, 'cover', [card])
    })
  ]
}

/** The slot that an action plays. @param {State} state @param {Action} action */
export const slotOf = ({ hand: { cards } }, { seat, cards: [card], value }) =>
  card === undefined ? Number(value) : cards[seat].indexOf(card)

/** A card is on the table; the trick may be complete, and the hand won. @param {State} state @param {Action} action @returns {State} */
export function playCard(state, action) {
  const { hand } = state
  const { seat, kind } = action
  const slot = slotOf(state, action)
  const card = kind === 'cover' ? COVERED : /** @type {number} */ (hand.cards[seat][slot])
  const left = hand.row.left.map((slots, one) => one === seat ? slots.filter((other) => other !== slot) : slots)
  const row = { ...hand.row, left, table: [...hand.row.table, card], last: seat }
  const next = withHand(state, {
    row,
    bets: { ...hand.bets, offered: hand.bets.offered.filter((one) => one === seat) },
    covered: kind === 'cover' ? [...hand.covered, [seat, slot]] : hand.covered,
    orders: hand.orders.map((order, side) => side === sideOf(seat) && obeys(state, seat) ? null : order)
  })
  const players = playersOf(state)
  if (row.table.length < players.length) {
    return withHand(next, { row: { ...row, toAct: (seat + row.stride) % state.seats } })
  }
  return endTrick(next)
}

// An order ends with the card of the partner that it was given to.
/** @param {State} state @param {number} seat */
const obeys = ({ dealer, seats }, seat) => seat !== dealer && seat !== (dealer + 1) % seats

/** @param {State} state @returns {State} */
function endTrick(state) {
  const { hand: { row } } = state
  const { side, leader } = winnerOf(state)
  const tricks = [...row.tricks, { leader: row.leader, cards: row.table, side }]
  const { bets } = state.hand
  const next = withHand(state, {
    row: { ...row, tricks, table: [], leader, toAct: leader },
    bets: { ...bets, offered: bets.offered.filter((seat) => seat !== leader) },
    trick: side ?? 'tie'
  })
  const result = resultOf(next)
  return result === undefined ? next : endRow(next, result)
}

/**
 * Which side has the trick on the table, and who leads the next.
 *
 * @param {State} state
 * @returns {{ side: number | null, leader: number }}
 */
function winnerOf({ rules, seats, hand: { row, up } }) {
  const strengths = row.table.map((card) => strengthOf(rules, up, card))
  const most = Math.max(...strengths)
  const seatAt = (/** @type {number} */ place) => (row.leader + place * row.stride) % seats
  const best = strengths.flatMap((strength, place) => strength === most ? [place] : [])
  const sides = new Set(best.map((place) => sideOf(seatAt(place))))
  // rules.md 6.3: where only the leader wins by equal cards of partners, theirs has to be the first
  const isWon = sides.size === 1 && (best.length === 1 || !rules.leaderOnly || best[0] === 0)
  if (isWon) return { side: sideOf(seatAt(best[0])), leader: seatAt(best[0]) }
  // rules.md 7: the last to play a tying card is the spoiler
  return { side: null, leader: rules.spoilerLeads ? seatAt(/** @type {number} */ (best.at(-1))) : row.leader }
}

/**
 * Who has won the hand: a side, null for nobody, undefined while it is open.
 *
 * @param {State} state
 * @returns {number | null | undefined}
 */
function resultOf({ rules, hand: { row: { tricks, eldest }, each } }) {
  const won = [0, 1].map((side) => tricks.filter((trick) => trick.side === side).length)
  const left = each - tricks.length
  if (left === 0 && won[0] + won[1] === 0) return rules.eldestWinsTies ? sideOf(eldest) : null
  if (rules.isPut) {
    const lead = won[0] - won[1]
    if (Math.abs(lead) > left) return lead > 0 ? 0 : 1
    return left === 0 ? null : undefined
  }
  const two = won.findIndex((count) => count === 2)
  if (two >= 0) return two
  // rules.md 1.5: once a trick is tied, the first that is not decides, be it before or after the tie
  const isTied = tricks.some(({ side }) => side === null)
  return isTied || left === 0 ? tricks.find(({ side }) => side !== null)?.side ?? undefined : undefined
}
