// Mode blind, "The steps": what a seat makes from its link and the steps before it. Whoever judges the seat makes the same
// again (C50), whoever sits there makes it first.
//
// A step that is made is a list of products, and a function from their points to the fields of the record: so everything
// that has to be multiplied can be multiplied in one go.

import { boxKey, sealOnce } from '../proof/boxes.mjs'
import { L } from '../own/curve25519.mjs'
import { H } from '../proof/encoding.mjs'
import { BASE, inverse, rep } from './group.mjs'

/** @typedef {import('./group.mjs').Product} Product */
/** @typedef {import('./secrets.mjs').Secrets} Secrets */
/** @typedef {import('./sealing.mjs').Place} Place */
/** @typedef {{ mid: Uint8Array, j: number, seats: number }} Index what the steps of an index have in common */

/**
 * @template Fields
 * @typedef {{ products: Product[], finish: (points: Uint8Array[]) => Fields }} Making
 */

const NOTHING = new Uint8Array(0)

/** What a seat shows of its key when it locks. @type {(index: Index, p: number, seat: number, key: Uint8Array) => Uint8Array} */
export const keyDigest = ({ mid, j }, p, seat, key) => H('key', mid, j, p, seat, key)
/** @param {number} j @param {number} d @param {number} giver @param {number} receiver */
const keyInfo = (j, d, giver, receiver) => ['truc/1/keybox', j, d, giver, receiver]
/** @param {number} j @param {number} d @param {number} giver @param {number} receiver */
const lendInfo = (j, d, giver, receiver) => ['truc/1/lendbox', j, d, giver, receiver]
/** @type {(shared: Uint8Array, index: Index, d: number, giver: number, receiver: number) => Uint8Array} */
export const keyBoxKey = (shared, { mid, j }, d, giver, receiver) => boxKey(shared, mid, keyInfo(j, d, giver, receiver))
/** @type {(shared: Uint8Array, index: Index, d: number, giver: number, receiver: number) => Uint8Array} */
export const lendBoxKey = (shared, { mid, j }, d, giver, receiver) => boxKey(shared, mid, lendInfo(j, d, giver, receiver))

/** @param {Secrets} secrets @param {Place} place */
export const keyOf = (secrets, { p }) => rep(secrets.lock(p))

/** A pair of a mask. @typedef {[P: Uint8Array, Q: Uint8Array]} Pair */

/** @param {Secrets} secrets @param {Pair[]} pairs as they come @returns {Making<{ points: Uint8Array[] }>} */
export function makeMask(secrets, pairs) {
  const products = secrets.order(pairs.length).flatMap((from, k) => {
    const r = secrets.blind(k)
    const [P, Q] = pairs[from]
    return /** @type {Product[]} */ ([[rep(r), P], [rep(r * secrets.mask % L), Q]])
  })
  return { products, finish: (points) => ({ points }) }
}

/**
 * The nonce goes with the eldest's first lock; `locked` are the places with the Q that each has before.
 *
 * @param {Secrets} secrets
 * @param {Index} index
 * @param {{ seat: number, hasNonce: boolean }} turn
 * @param {{ place: Place, Q: Uint8Array }[]} locked
 * @returns {Making<{ nonce: Uint8Array | null, points: Uint8Array[], commitments: Uint8Array[] }>}
 */
export function makeLock(secrets, index, { seat, hasNonce }, locked) {
  // the mask of the whole pack comes off, and a key of this place alone takes its place
  const unmask = inverse(secrets.mask)
  return {
    products: locked.map(({ place, Q }) => [rep(secrets.lock(place.p) * unmask % L), Q]),
    finish: (points) => ({
      nonce: hasNonce ? secrets.nonce : null,
      points,
      commitments: locked.map(({ place }) => keyDigest(index, place.p, seat, keyOf(secrets, place)))
    })
  }
}

/**
 * A round of keys: `shown` are the places whose keys go to all, `dealt` those whose keys go to their owners, none in a hand
 * that is played blind; `xs` by seat, of those who receive boxes.
 *
 * @typedef {{ d: number, shown: Place[], dealt: Place[] | null }} Round
 */

/**
 * @param {Secrets} secrets
 * @param {Index} index
 * @param {number} giver
 * @param {Round} round
 * @param {Uint8Array[]} xs
 * @returns {Making<{ box: Uint8Array | null, opened: Uint8Array[], boxes: Uint8Array[] }>}
 */
export function makeKeys(secrets, index, giver, { d, shown, dealt }, xs) {
  const opened = shown.map((place) => keyOf(secrets, place))
  if (dealt === null) return { products: [], finish: () => ({ box: null, opened, boxes: [] }) }
  const e = rep(secrets.box(d))
  const products = [BASE, ...xs].map((point) => /** @type {Product} */ ([e, point]))
  const finish = (/** @type {Uint8Array[]} */ [box, ...shared]) => ({
    box,
    opened,
    boxes: xs.map((_, seat) => {
      const keys = dealt.filter((place) => place.seat === seat).map((place) => keyOf(secrets, place))
      return seat === giver ? NOTHING : sealOnce(keyBoxKey(shared[seat], index, d, giver, seat), keys)
    })
  })
  return { products, finish }
}

/**
 * Cards as they are lent, by slot: the card, and the key of each seat.
 *
 * @typedef {[card: number, keys: Uint8Array[]]} OpenedCard
 */

/**
 * @param {Secrets} secrets
 * @param {Index} index
 * @param {{ d: number, giver: number, receiver: number }} lend
 * @param {OpenedCard[]} cards
 * @param {Uint8Array} x of the receiver
 * @returns {Making<{ box: Uint8Array }>}
 */
export function makeLend(secrets, index, { d, giver, receiver }, cards, x) {
  const finish = (/** @type {Uint8Array[]} */ [shared]) =>
    ({ box: sealOnce(lendBoxKey(shared, index, d, giver, receiver), cards) })
  return { products: [[rep(secrets.box(d)), x]], finish }
}
