// Section 6: from the links of the contributors to the order of the pack, the cards, the salts and the leaves.

import { H, Malformed } from './encoding.mjs'

// The bytes of a seed, read one by one.
export class Stream {
  constructor(seed) {
    Object.assign(this, { seed, blocks: 0, block: [], at: 0 })
  }

  byte() {
    if (this.at === this.block.length) {
      this.block = H('deck', this.seed, this.blocks++)
      this.at = 0
    }
    return this.block[this.at++]
  }

  below(bound) {
    if (bound < 1 || bound > 256) throw new Malformed('a bound that one byte does not reach')
    const limit = 256 - (256 % bound)
    for (;;) {
      const byte = this.byte()
      if (byte < limit) return byte % bound
    }
  }
}

export function shuffle(seed, size) {
  if (size < 1 || size > 256) throw new Malformed('no pack of this size')
  const stream = new Stream(seed)
  const order = Array.from({ length: size }, (_, i) => i)
  for (let i = size - 1; i >= 1; i--) {
    const other = stream.below(i + 1)
    const card = order[i]
    order[i] = order[other]
    order[other] = card
  }
  return order
}

// links: [[role, link], …], roles ascending.
export const pick = (seed, bound) => new Stream(seed).below(bound)
export const firstDealer = (mid, j, links, seats) => pick(H('drawseed', mid, j, links), seats)
export const seedOf = (mid, j, links) => H('seed', mid, j, links)
export const saltOf = (seed, d, seat, slot) => H('salt', seed, d, seat, slot).subarray(0, 16)
export const leafOf = (mid, j, d, seat, slot, card, salt) => H('leaf', mid, j, d, seat, slot, card, salt)
export const handDigest = (mid, j, d, seat, leaves) => H('hand', mid, j, d, seat, leaves)

export function orderOf(seed, deck, cut) {
  if (cut >= deck) throw new Malformed('a cut beyond the pack')
  const order = shuffle(seed, deck)
  return [...order.slice(cut), ...order.slice(0, cut)]
}

// The cards that `count` deals take: seats × ncards each, and those turned up after the first.
export const cardsNeeded = (seats, ncards, up, count) => seats * ncards * count + up

// All sub-deals of one seed, each { hands: by seat [[card, salt], …], up: [card, …], leaves: by seat [leaf, …] }.
export function dealAll({ mid, j, seed, deck, cut, dealer, seats, ncards, up }, count) {
  const order = orderOf(seed, deck, cut)
  if (cardsNeeded(seats, ncards, up, count) > deck) throw new Malformed('more cards than the pack has')
  let next = 0
  return Array.from({ length: count }, (_, d) => {
    const hands = Array.from({ length: seats }, () => [])
    for (let slot = 0; slot < ncards; slot++) {
      for (let n = 1; n <= seats; n++) {
        const seat = (dealer + n) % seats
        hands[seat].push([order[next++], saltOf(seed, d, seat, slot)])
      }
    }
    const turned = d === 0 ? order.slice(next, next += up) : []
    const leaves = hands.map((hand, q) => hand.map(([card, salt], slot) => leafOf(mid, j, d, q, slot, card, salt)))
    return { hands, up: turned, leaves }
  })
}
