// Mode blind (docs/fairness/blind.md), "The group": scalars, which are big integers mod ℓ, and points, which are
// u-coordinates of 32 bytes. Points are multiplied and compared, never added or subtracted.
//
// Big integers take a time that depends on the numbers: a link that is opened is no secret any more.

import { littleEndian, same, toHex, toLittleEndian } from '../bytes.mjs'
import { L, P } from '../own/curve25519.mjs'
import { multiplyAll } from '../platform.mjs'
import { H, Malformed } from '../proof/encoding.mjs'

/** @typedef {import('../platform.mjs').Product} Product a scalar as `rep` gives it, and a point */

const TOP = 2n ** 255n
const LOWEST = 2n ** 254n

export const BASE = toLittleEndian(9, 32)     // the point G
const MINUS_ONE = toLittleEndian(5n * L - 1n, 32)     // clamping leaves it as it is

/** @param {bigint} t */
const mod = (t) => ((t % L) + L) % L

/** The scalar that undoes another. @param {bigint} t not 0 */
export function inverse(t) {
  let [low, high] = [mod(t), L]
  let [a, b] = [1n, 0n]
  while (low > 1n) {
    const times = high / low
    ;[low, high] = [high - times * low, low]
    ;[a, b] = [b - times * a, a]
  }
  return mod(a)
}

const EIGHTH = inverse(8n)

/** @param {string} tag @param {...import('../proof/encoding.mjs').Value} fields @returns {bigint} */
export const scalar = (tag, ...fields) => (littleEndian(H(tag, ...fields)) % TOP / 8n * 8n | LOWEST) % L

/** The one number of a class that clamping leaves as it is; Malformed where there is none. @param {bigint} t */
export function rep(t) {
  const first = 8n * mod(t * EIGHTH)
  const k = first < LOWEST ? 8n * L - first : first
  // X25519 clamps what it multiplies with: only such a number comes out of it as it went in
  if (k < LOWEST || k >= TOP) throw new Malformed('a class that no clamped number is of')
  return toLittleEndian(k, 32)
}

/** Whether a scalar may travel: clamping leaves it as it is. @param {Uint8Array} bytes */
export const isFixed = (bytes) => bytes.length === 32 && (bytes[0] & 7) === 0 && bytes[31] >> 6 === 1

/** The class of a scalar that travelled. @param {Uint8Array} bytes */
export const classOf = (bytes) => littleEndian(bytes) % L

/** @param {Product} product */
export const multiply = (product) => multiplyAll([product])[0]

/** What `areSound` asks for. @param {Uint8Array[]} points @returns {Product[]} */
export const soundProducts = (points) => points.map((point) => [MINUS_ONE, point])

/** Whether all are points of prime order, in their only encoding (C44). @param {Uint8Array[]} points */
export function areSound(points) {
  const isEncoded = points.every((point) => point.length === 32 && point.some((byte) => byte !== 0) && littleEndian(point) < P)
  return isEncoded && multiplyAll(soundProducts(points)).every((product, i) => same(product, points[i]))
}

/** The logarithm of a card, which everybody knows. @param {number} card */
export function cardScalar(card) {
  return knownScalars[card] ??= scalar('card', card)
}

/** @type {bigint[]} */
const knownScalars = []
/** @type {Uint8Array[]} */
const knownPoints = []

/** What `cardPoints` asks for where it does not know them yet. @param {number} deck @returns {Product[]} */
export const cardProducts = (deck) =>
  knownPoints.length >= deck ? [] : Array.from({ length: deck }, (_, card) => [rep(cardScalar(card)), BASE])

/** The points of the cards of a pack. @param {number} deck */
export function cardPoints(deck) {
  if (knownPoints.length < deck) knownPoints.splice(0, knownPoints.length, ...multiplyAll(cardProducts(deck)))
  return knownPoints.slice(0, deck)
}

/** A point as the key of a map. @param {Uint8Array} point */
export const nameOf = (point) => toHex(point)
