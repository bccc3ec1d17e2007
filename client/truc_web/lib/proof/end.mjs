// Sections 6 and 10: what is recomputed when cards are opened (C25), the end (C30, C31), and the acks.

import { remembered, same } from '../bytes.mjs'
import { boxKeyOf, exchange } from './keys.mjs'
import { hashDown } from './chains.mjs'
import { dealAll, seedOf } from './deals.mjs'
import { boxKey, sealHand } from './boxes.mjs'
import { sortedLinks } from './calls.mjs'
import { SERVER } from './records.mjs'

/** @typedef {import('./ledger.mjs').Ledger} Ledger */

/** The cards of a deal that was recomputed, by seat and slot. @param {import('./ledger.mjs').Hand} hand @param {number} d */
export const cardsOf = ({ dealt }, d) => dealt?.[d].hands.map((own) => own.map(([card]) => card)) ?? null

/** @param {number[][]} one @param {number[][]} other */
export const isScore = (one, other) => one.every((side, i) => side.every((figure, at) => figure === other[i][at]))

// C25 and C24: a hand under `match`, of which all cards are known now; C23: exactly what was owed was opened.
/** @param {Ledger} ledger @param {import('./ledger.mjs').Hand} hand */
function replayAll(ledger, hand) {
  const { reading, closed, shown } = hand
  if (closed === null) return
  ledger.must(reading.denied((d) => cardsOf(hand, d)) === null, 'C25')
  const isHand = closed.reason === 'hand'
  ledger.must((!isHand || reading.isOver) && isScore(reading.score, closed.score), 'C25')
  ledger.must(isHand || reading.state.winner === null, 'C24')
  if (!isHand) return
  const owed = ledger.engine.owedShows(reading.state)
  const isSame = owed.length === shown.length && owed.every(([seat, slots], i) =>
    seat === shown[i][0] && slots.length === shown[i][1].length && slots.every((slot, at) => slot === shown[i][1][at]))
  ledger.must(isSame, 'C23')
}

// C25: seed, order, leaves of every sub-deal and the cards turned up. Keeps the cards in the hand.
/** @param {Ledger} ledger @param {import('./ledger.mjs').Hand} hand */
export function recompute(ledger, hand) {
  const seed = seedOf(ledger.mid, hand.j, sortedLinks(hand.links))
  const { mid, rules: { deck, up: turned }, seats } = ledger
  const place = { ...hand, mid, seed, deck, seats: seats.length, up: turned }
  const dealt = hand.dealt = dealAll(place, hand.deals.length)
  hand.deals.forEach((deal, d) => {
    const { leaves, up } = dealt[d]
    ledger.must(up.every((card, i) => card === deal.up[i]), 'C25', SERVER)
    ledger.must(leaves.every((own, q) => own.every((leaf, slot) => same(leaf, deal.leaves[q][slot]))), 'C25', SERVER)
  })
}

// C30: J, and for every chain the server has had with b < J its last link used, which hashes down to its anchor. Returns
// how to find the server's link of any deal.
/** @param {Ledger} ledger @param {any} fields */
function checkChains(ledger, fields) {
  const chains = ledger.server.chains.filter((chain) => chain.first < ledger.index)
  const used = chains.map((chain) => Math.min(ledger.index, chain.last))
  ledger.must(fields.next_index === ledger.index && fields.links.length === chains.length, 'C30')
  /** @type {[first: number, link: Uint8Array][]} */
  const links = fields.links
  links.forEach(([first, link], i) => ledger.must(first === chains[i].first && chains[i].fits(used[i], link), 'C30'))
  // all at once: from the end down to each hand by itself would be as many hashes as the square of the hands
  /** @type {Map<number, Uint8Array>} */
  const known = new Map()
  const openAll = () => chains.forEach(({ pk, tn, first }, i) => {
    let [, link] = links[i]
    for (let at = used[i]; at > first; at--) {
      known.set(at, link)
      link = hashDown(pk, tn, link, at, at - 1)
    }
  })
  return (/** @type {number} */ j) => {
    if (known.size === 0) openAll()
    return /** @type {Uint8Array} */ (known.get(j + 1))
  }
}

// C31: every box of every deal and share is made again. A seat without x has an empty one.
/** @param {Ledger} ledger @param {Uint8Array} xsec */
function checkBoxes(ledger, xsec) {
  // an exchange takes milliseconds, and a match has few keys but a box for each of their hands
  const sharedWith = remembered((x) => exchange(xsec, x))
  for (const { hand, d, owner, x, box, info } of ledger.sealed) {
    const cards = /** @type {import('./deals.mjs').Dealt[]} */ (hand.dealt)[d].hands[owner]
    const made = x === null ? new Uint8Array(0) : sealHand(boxKey(sharedWith(x), ledger.mid, info), cards)
    ledger.must(same(made, box), 'C31')
  }
}

// C24, C30, C31, C25, C24, C23, C31.
/** @param {Ledger} ledger @param {any} fields */
function end(ledger, fields) {
  const won = /** @type {{ winner: number | null, reason: string }} */ (ledger.won)     // in the phase `over`
  ledger.must(ledger.hand === null && fields.winner === won.winner && fields.reason === won.reason, 'C24')
  ledger.must(isScore(ledger.score, fields.score), 'C24')
  const linkOf = checkChains(ledger, fields)
  ledger.must(same(boxKeyOf(fields.xsec), ledger.server.x), 'C31')
  const hands = ledger.hands.filter(({ dealt }) => dealt === undefined)
  for (const hand of hands) {
    hand.links.set(SERVER, linkOf(hand.j))
    recompute(ledger, hand)
    replayAll(ledger, hand)
  }
  checkBoxes(ledger, fields.xsec)
  hands.forEach((hand) => { hand.isReplayed = true })
  ledger.result = { ...won, score: fields.score }
  ledger.phase = 'ended'
}

// C32. The same ack again may be anybody's doing, and each seat's has only one possible body.
/** @param {Ledger} ledger @param {any} fields */
function ack(ledger, fields) {
  ledger.must(!ledger.acked.has(fields.seat), 'C32', null)
  ledger.acked.add(fields.seat)
}

export const END = { end, ack }
