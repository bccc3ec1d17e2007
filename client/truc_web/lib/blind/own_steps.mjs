// Mode blind: what a seat does itself, from its link: the step that is due of it, and the cards that its boxes hold.

import { multiplyAhead, multiplyAll } from '../platform.mjs'
import { openOnce } from '../proof/boxes.mjs'
import { Malformed } from '../proof/encoding.mjs'
import { shape } from '../proof/shapes.mjs'
import { same } from '../bytes.mjs'
import { keyBoxKey, keyOf, makeKeys, makeLock, makeMask } from './making.mjs'
import { openingProduct } from './sealing.mjs'

/** @typedef {import('./sealing.mjs').Sealing} Sealing */
/** @typedef {import('./sealing.mjs').Place} Place */
/** @typedef {import('./secrets.mjs').Secrets} Secrets */

/**
 * What a step comes to.
 *
 * @template Fields
 * @param {import('./making.mjs').Making<Fields>} making
 * @returns {Promise<Fields>}
 */
export async function made({ products, finish }) {
  if (multiplyAhead !== null) await multiplyAhead(products)
  return finish(multiplyAll(products))
}

/**
 * The step that is due of a seat, or null.
 *
 * @param {Sealing} sealing
 * @param {number} seat
 * @param {Secrets} secrets
 * @param {Uint8Array[]} xs of all seats
 * @returns {{ kind: 'mask' | 'lock' | 'keys', d: number, making: import('./making.mjs').Making<any> } | null}
 */
export function dueOf(sealing, seat, secrets, xs) {
  const [turn] = sealing.turns
  if (turn === undefined) {
    if (!sealing.giving.has(seat)) return null
    return { kind: 'keys', d: sealing.round.d, making: makeKeys(secrets, sealing, seat, sealing.round, xs) }
  }
  if (turn.seat !== seat) return null
  if (turn.kind === 'mask') return { kind: 'mask', d: 0, making: makeMask(secrets, sealing.pairs) }
  const before = sealing.before(turn, turn.hasNonce ? secrets.nonce : null)
  return { kind: 'lock', d: sealing.d, making: makeLock(secrets, sealing, turn, before) }
}

const keysShape = shape('keys [h]')

/**
 * The keys of the own places of the newest sub-deal, by slot, each by seat; Malformed if a box does not open or a key does
 * not fit (C46).
 *
 * @param {Sealing} sealing
 * @param {number} seat
 * @param {Secrets} secrets
 * @param {(point: Uint8Array) => Uint8Array} exchange with the secret of the seat's x
 * @returns {Uint8Array[][]}
 */
export function ownKeys(sealing, seat, secrets, exchange) {
  const own = sealing.newest.filter((place) => place.seat === seat)
  const given = sealing.keysOf(sealing.d)
  const all = Array.from({ length: sealing.seats }, (_, giver) => {
    // no box is sent to oneself: one's own keys follow from the link
    if (giver === seat) return own.map((place) => keyOf(secrets, place))
    const { box, boxes } = given[giver]
    const shared = exchange(/** @type {Uint8Array} */ (box))
    /** @type {Uint8Array[]} */
    const keys = keysShape([openOnce(keyBoxKey(shared, sealing, sealing.d, giver, seat), boxes[seat])]).keys
    if (!own.every((place, slot) => sealing.isKey(place, giver, keys[slot]))) throw new Malformed('a key of another place')
    return keys
  })
  return own.map((_, slot) => all.map((keys) => keys[slot]))
}

/**
 * The card of a place whose keys are known, or null if it opens as none.
 *
 * @param {Sealing} sealing
 * @param {Place} place
 * @param {Uint8Array[]} keys of each seat
 */
export function cardIn(sealing, place, keys) {
  const products = Array.from({ length: sealing.call.deck }, (_, card) => openingProduct(place, card, keys))
  const card = multiplyAll(products).findIndex((point) => same(point, place.Q))
  return card < 0 ? null : card
}

