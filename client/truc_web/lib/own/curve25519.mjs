// The curve of Ed25519 and X25519 (RFC 8032, RFC 7748) with big integers: which points there are, when a signature
// holds, and exchanges. Synchronous, exact, and a few milliseconds each.
//
// It takes a time that depends on the numbers: for secrets that everybody knows by now. Nothing is signed here.

import { concat, littleEndian, same, toLittleEndian } from '../bytes.mjs'
import { sha512 } from './sha2.mjs'

export const P = 2n ** 255n - 19n
export const L = 2n ** 252n + 27742317777372353535851937790883648493n     // the order of the group
const TOP = 2n ** 255n

/** @typedef {[x: bigint, y: bigint, z: bigint, t: bigint]} Point in extended coordinates (RFC 8032, section 5.1.4) */

/** @param {bigint} a */
const mod = (a) => ((a % P) + P) % P
const D = mod(-121665n * inverse(121666n))
const ROOT_OF_MINUS_ONE = power(2n, (P - 1n) / 4n)
const BASE = /** @type {Point} */ (decompress(toLittleEndian(mod(4n * inverse(5n)), 32)))
/** @type {Point} */
const IDENTITY = [0n, 1n, 1n, 0n]

/** @param {bigint} base @param {bigint} exponent */
function power(base, exponent) {
  let result = 1n
  for (let square = mod(base); exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = result * square % P
    square = square * square % P
  }
  return result
}

/** @param {bigint} a */
function inverse(a) {
  return power(a, P - 2n)
}

/**
 * The point, or null if there is none.
 *
 * @param {Uint8Array} bytes 32 of them
 * @returns {Point | null}
 */
export function decompress(bytes) {
  const number = littleEndian(bytes)
  const [sign, y] = [number / TOP, number % TOP]
  // a second encoding of a point that has one (C4)
  if (y >= P) return null
  const u = mod(y * y - 1n)
  const v = mod(D * y * y + 1n)
  let x = mod(u * power(v, 3n) * power(u * power(v, 7n), (P - 5n) / 8n))
  if (mod(v * x * x) === mod(-u)) x = mod(x * ROOT_OF_MINUS_ONE)
  if (mod(v * x * x) !== u || (x === 0n && sign === 1n)) return null
  if ((x & 1n) !== sign) x = P - x
  return [x, y, 1n, mod(x * y)]
}

/** @param {Point} point */
function compress([x, y, z]) {
  const scale = inverse(z)
  return toLittleEndian(y * scale % P + (x * scale % P & 1n) * TOP, 32)
}

/** @param {Point} one @param {Point} other @returns {Point} */
function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = mod((y1 - x1) * (y2 - x2))
  const b = mod((y1 + x1) * (y2 + x2))
  const c = mod(2n * D * t1 * t2)
  const d = mod(2n * z1 * z2)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}

/** @param {Point} point @param {bigint} scalar @returns {Point} */
export function multiply(point, scalar) {
  let result = IDENTITY
  for (let double = point; scalar > 0n; scalar >>= 1n) {
    if (scalar & 1n) result = add(result, double)
    double = add(double, double)
  }
  return result
}

/** @param {Point} point @returns {boolean} */
export const isIdentity = ([x, y, z]) => x === 0n && y === z

/**
 * Whether a signature holds by the cofactorless equation, bytes against bytes; of the key it says nothing.
 *
 * @param {Uint8Array} key 32 bytes
 * @param {Uint8Array} body
 * @param {Uint8Array} signature 64 bytes
 * @returns {boolean}
 */
export function verify(key, body, signature) {
  const [r, s] = [signature.subarray(0, 32), littleEndian(signature.subarray(32))]
  const point = decompress(key)
  // s and s + L would be two signatures of one body, of which libraries take one or both (C3)
  if (point === null || s >= L) return false
  // s·B − h·A must be R, byte for byte; a cofactor would let signatures hold that other libraries refuse
  const [x, y, z, t] = multiply(point, littleEndian(sha512(concat(r, key, body))) % L)
  return same(compress(add(multiply(BASE, s), [P - x, y, z, P - t])), r)
}

/**
 * X25519 (RFC 7748, section 5).
 *
 * @param {Uint8Array} secret 32 bytes
 * @param {Uint8Array} peer 32 bytes
 * @returns {Uint8Array} 32 bytes, zeros where the peer's is a point of small order
 */
export function exchange(secret, peer) {
  const scalar = littleEndian(secret) % TOP / 8n * 8n | TOP / 2n
  const u = littleEndian(peer) % TOP
  let [x2, z2, x3, z3] = [1n, 0n, u, 1n]
  for (let bit = 254n; bit >= 0n; bit--) {
    const isSet = scalar >> bit & 1n
    if (isSet) [x2, z2, x3, z3] = [x3, z3, x2, z2]
    ;[x2, z2, x3, z3] = step(u, x2, z2, x3, z3)
    if (isSet) [x2, z2, x3, z3] = [x3, z3, x2, z2]
  }
  return toLittleEndian(x2 * inverse(z2) % P, 32)
}

// From n and n + 1 times the point to 2n and 2n + 1 times.
/** @param {bigint} u @param {bigint} x2 @param {bigint} z2 @param {bigint} x3 @param {bigint} z3 */
function step(u, x2, z2, x3, z3) {
  const [a, b, c, d] = [x2 + z2, x2 - z2, x3 + z3, x3 - z3]
  const [aa, bb, da, cb] = [mod(a * a), mod(b * b), mod(d * a), mod(c * b)]
  const e = aa - bb
  return [mod(aa * bb), mod(e * (aa + 121665n * e)), mod((da + cb) ** 2n), mod(u * (da - cb) ** 2n)]
}
