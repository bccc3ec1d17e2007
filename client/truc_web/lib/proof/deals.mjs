// Section 6: from the links of the contributors to the order of the pack, the cards, the salts and the leaves.

import { H, Malformed } from './encoding.mjs'

// The bytes of a seed, read one by one.
export class Stream {
  /** @param {Uint8Array} seed */
  constructor(seed) {
    this.seed = seed
    this.blocks = 0
    this.block = new Uint8Array(0)
    this.at = 0
  }

  byte() {
    if (this.at === this.block.length) {
      this.block = H('deck', this.seed, this.blocks++)
      this.at = 0
    }
    return this.block[this.at++]
  }

  /** @param {number} bound */
  below(bound) {
    if (bound < 1 || bound > 256) throw new Malformed('a bound that one byte does not reach')
    // the bytes beyond would make the lowest numbers likelier: they are drawn again
    const limit = 256 - (256 % bound)
    for (;;) {
      const byte = this.byte()
      if (byte < limit) return byte % bound
    }
  }
}

/** @param {Uint8Array} seed @param {number} size */
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

/** What is opened for a deal, by roles ascending. @typedef {[role: number, link: Uint8Array][]} Links */

/** @param {Uint8Array} seed @param {number} bound */
export const pick = (seed, bound) => new Stream(seed).below(bound)
/** @param {Uint8Array} mid @param {number} j @param {Links} links @param {number} seats */
export const firstDealer = (mid, j, links, seats) => pick(H('drawseed', mid, j, links), seats)
/** @param {Uint8Array} mid @param {number} j @param {Links} links */
export const seedOf = (mid, j, links) => H('seed', mid, j, links)
/** @param {Uint8Array} seed @param {number} d @param {number} seat @param {number} slot */
export const saltOf = (seed, d, seat, slot) => H('salt', seed, d, seat, slot).subarray(0, 16)
/**
 * @type {(mid: Uint8Array, j: number, d: number, seat: number, slot: number, card: number, salt: Uint8Array) =>
 *   Uint8Array}
 */
export const leafOf = (mid, j, d, seat, slot, card, salt) => H('leaf', mid, j, d, seat, slot, card, salt)
/** @type {(mid: Uint8Array, j: number, d: number, seat: number, leaves: Uint8Array[]) => Uint8Array} */
export const handDigest = (mid, j, d, seat, leaves) => H('hand', mid, j, d, seat, leaves)

/** @param {Uint8Array} seed @param {number} deck @param {number} cut */
export function orderOf(seed, deck, cut) {
  if (cut >= deck) throw new Malformed('a cut beyond the pack')
  const order = shuffle(seed, deck)
  return [...order.slice(cut), ...order.slice(0, cut)]
}

/**
 * The cards that `count` deals take: seats × ncards each, and those turned up after the first.
 *
 * @param {number} seats
 * @param {number} ncards
 * @param {number} up
 * @param {number} count
 */
export const cardsNeeded = (seats, ncards, up, count) => seats * ncards * count + up

/**
 * A deal as the seed makes it: hands and leaves by seat.
 *
 * @typedef {{ hands: import('./boxes.mjs').HeldCard[][], up: number[], leaves: Uint8Array[][] }} Dealt
 */

/**
 * All sub-deals of one seed.
 *
 * @param {{ mid: Uint8Array, j: number, seed: Uint8Array, deck: number, cut: number, dealer: number, seats: number,
 *   ncards: number, up: number }} place
 * @param {number} count
 * @returns {Dealt[]}
 */
export function dealAll({ mid, j, seed, deck, cut, dealer, seats, ncards, up }, count) {
  const order = orderOf(seed, deck, cut)
  if (cardsNeeded(seats, ncards, up, count) > deck) throw new Malformed('more cards than the pack has')
  let next = 0
  return Array.from({ length: count }, (_, d) => {
    /** @type {import('./boxes.mjs').HeldCard[][]} */
    const hands = Array.from({ length: seats }, () => [])
    for (let slot = 0; slot < ncards; slot++) {
      for (let n = 1; n <= seats; n++) {
        const seat = (dealer + n) % seats
        hands[seat].push([order[next++], saltOf(seed, d, seat, slot)])
      }
    }
    // turned up behind the first deal alone: later ones go on in the same order
    const turned = d === 0 ? order.slice(next, next += up) : []
    const leaves = hands.map((hand, q) => hand.map(([card, salt], slot) => leafOf(mid, j, d, q, slot, card, salt)))
    return { hands, up: turned, leaves }
  })
}
