// Section 2: which keys are admitted, when a signature holds, X25519.
//
// The platform checks signatures; the admission of keys, which few libraries offer, is done here.

import { littleEndian, remembered, same } from '../bytes.mjs'
import { L, P, decompress, isIdentity, multiply } from '../own/curve25519.mjs'
import * as platform from '../platform.mjs'
import { Malformed } from './encoding.mjs'

export const { sign, signingKeyOf } = platform

const ZERO = new Uint8Array(32)
const BASE_POINT = Uint8Array.of(9, ...ZERO.subarray(1))

/**
 * C4: a point of the subgroup of prime order, canonically encoded, not the identity.
 *
 * @type {(key: Uint8Array) => boolean}
 */
export const isAdmissible = remembered((key) => {
  const point = key.length === 32 ? decompress(key) : null
  return point !== null && !isIdentity(point) && isIdentity(multiply(point, L))
})

/** @param {Uint8Array} key @param {Uint8Array} signature */
const hasLengths = (key, signature) => key.length === 32 && signature.length === 64

/**
 * C3. Of the key it says nothing.
 *
 * @param {Uint8Array} key
 * @param {Uint8Array} body
 * @param {Uint8Array} signature
 * @returns {boolean}
 */
export function signatureHolds(key, body, signature) {
  return hasLengths(key, signature) && platform.verify(key, body, signature)
}

/**
 * Have a signature checked ahead, by these very objects: in a browser `signatureHolds` is quick then, else slow.
 *
 * @param {Uint8Array} key
 * @param {Uint8Array} body
 * @param {Uint8Array} signature
 */
export async function attest(key, body, signature) {
  if (hasLengths(key, signature)) await platform.attest(key, body, signature)
}

/** @param {Uint8Array} secret @param {Uint8Array} peer */
function checkLengths(secret, peer) {
  if (secret.length !== 32 || peer.length !== 32) throw new Malformed('no X25519 key')
}

/** @param {Uint8Array} shared */
function nonZero(shared) {
  if (same(shared, ZERO)) throw new Malformed('no exchange with this key')
  return shared
}

/**
 * X25519 with a secret that everybody knows by now: at the end of a match, or by a complaint.
 *
 * @param {Uint8Array} secret
 * @param {Uint8Array} peer
 * @returns {Uint8Array}
 */
export function exchange(secret, peer) {
  checkLengths(secret, peer)
  return nonZero(platform.exchange(secret, peer))
}

/** The public key of such a secret. @param {Uint8Array} secret @returns {Uint8Array} */
export const boxKeyOf = (secret) => exchange(secret, BASE_POINT)

/**
 * X25519 with a secret that must remain one.
 *
 * @param {Uint8Array} secret
 * @param {Uint8Array} peer
 * @returns {Promise<Uint8Array>}
 */
export async function agree(secret, peer) {
  checkLengths(secret, peer)
  return nonZero(await platform.agree(secret, peer))
}

/** The public key of such a secret. @param {Uint8Array} secret @returns {Promise<Uint8Array>} */
export const newBoxKeyOf = (secret) => agree(secret, BASE_POINT)

/**
 * C7: below 2^255 − 19, and no exchange gives zero. One secret shows it for all, as they are multiples of 8.
 *
 * @param {Uint8Array} x
 * @returns {boolean}
 */
export function isSoundBoxKey(x) {
  return x.length === 32 && littleEndian(x) < P && !same(platform.exchange(new Uint8Array(32).fill(7), x), ZERO)
}
