// SHA-256, HMAC and HKDF with it, and SHA-512 (FIPS 180-4, RFC 2104, RFC 5869), synchronous.
//
// A browser has them as promises only, which take 16 times as long as the hash of a link itself: a chain is 1,024 of
// them. SHA-512 is for signatures alone, and slow.

import { bigEndian, concat, toBigEndian } from '../bytes.mjs'

// The constants of the standard: the first 64 bits of the fractional parts of square and cube roots of primes.
/** @param {number} n */
const isPrime = (n) => n > 1 && !Array.from({ length: n - 2 }, (_, i) => i + 2).some((i) => n % i === 0)
const PRIMES = Array.from({ length: 410 }, (_, n) => n).filter(isPrime)

// The largest integer whose power is at most `number`, bit by bit.
/** @param {bigint} number @param {bigint} degree */
function root(number, degree) {
  let found = 0n
  for (let bit = 1n << 72n; bit > 0n; bit >>= 1n) if ((found + bit) ** degree <= number) found += bit
  return found
}

/** @param {number} prime @param {bigint} degree */
const fraction = (prime, degree) => BigInt.asUintN(64, root(BigInt(prime) << (64n * degree), degree))
const START = PRIMES.slice(0, 8).map((prime) => fraction(prime, 2n))
const ROUNDS = PRIMES.map((prime) => fraction(prime, 3n))
const START_256 = Int32Array.from(START, (word) => Number(BigInt.asIntN(32, word >> 32n)))
const ROUNDS_256 = Int32Array.from(ROUNDS.slice(0, 64), (word) => Number(BigInt.asIntN(32, word >> 32n)))

// The message, a one, zeros, and its length in bits.
/** @param {Uint8Array} bytes @param {number} block */
function padded(bytes, block) {
  const over = (bytes.length + 1 + block / 8) % block
  const zeros = new Uint8Array((block - over) % block)
  return concat(bytes, Uint8Array.of(0x80), zeros, toBigEndian(8 * bytes.length, block / 8))
}

/** @param {number} word @param {number} by */
const rotated = (word, by) => word >>> by | word << 32 - by

/** @param {DataView} view @param {number} at @param {Int32Array} words */
function schedule(view, at, words) {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + 4 * i)
  for (let i = 16; i < 64; i++) {
    const [early, late] = [words[i - 15], words[i - 2]]
    const small = rotated(early, 7) ^ rotated(early, 18) ^ early >>> 3
    words[i] = words[i - 16] + small + words[i - 7] + (rotated(late, 17) ^ rotated(late, 19) ^ late >>> 10)
  }
}

/** @param {Int32Array} state @param {Int32Array} words */
function compress(state, words) {
  let [a, b, c, d, e, f, g, h] = state
  for (let i = 0; i < 64; i++) {
    const sum = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
    const first = h + sum + (e & f ^ ~e & g) + ROUNDS_256[i] + words[i] | 0
    const second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + (a & b ^ a & c ^ b & c) | 0
    h = g
    g = f
    f = e
    e = d + first | 0
    d = c
    c = b
    b = a
    a = first + second | 0
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, i) => { state[i] += word })
}

/** @param {Uint8Array} bytes @returns {Uint8Array} 32 bytes */
export function sha256(bytes) {
  const whole = padded(bytes, 64)
  const view = new DataView(whole.buffer)
  const state = START_256.slice()
  const words = new Int32Array(64)
  for (let at = 0; at < whole.length; at += 64) {
    schedule(view, at, words)
    compress(state, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  state.forEach((word, i) => digest.setInt32(4 * i, word))
  return new Uint8Array(digest.buffer)
}

/** @param {Uint8Array} key @param {Uint8Array} bytes */
function hmac(key, bytes) {
  const block = new Uint8Array(64)
  block.set(key.length > 64 ? sha256(key) : key)
  return sha256(concat(block.map((byte) => byte ^ 0x5c), sha256(concat(block.map((byte) => byte ^ 0x36), bytes))))
}

/** HKDF-SHA256, 32 bytes of it. @param {Uint8Array} secret @param {Uint8Array} salt @param {Uint8Array} info */
export const hkdf = (secret, salt, info) => hmac(hmac(salt, secret), concat(info, Uint8Array.of(1)))

/** @param {bigint} word @param {bigint} by */
const turned = (word, by) => word >> by | BigInt.asUintN(64, word << 64n - by)

/** @param {bigint[]} state @param {Uint8Array} block */
function compress512(state, block) {
  const words = Array.from({ length: 16 }, (_, i) => bigEndian(block.subarray(8 * i, 8 * i + 8)))
  let [a, b, c, d, e, f, g, h] = state
  for (let i = 0; i < 80; i++) {
    if (i >= 16) {
      const [early, late] = [words[i - 15], words[i - 2]]
      const small = turned(early, 1n) ^ turned(early, 8n) ^ early >> 7n
      const large = turned(late, 19n) ^ turned(late, 61n) ^ late >> 6n
      words.push(BigInt.asUintN(64, words[i - 16] + small + words[i - 7] + large))
    }
    const first = h + (turned(e, 14n) ^ turned(e, 18n) ^ turned(e, 41n)) + (e & f ^ ~e & g) + ROUNDS[i] + words[i]
    const second = (turned(a, 28n) ^ turned(a, 34n) ^ turned(a, 39n)) + (a & b ^ a & c ^ b & c)
    ;[a, b, c, d, e, f, g, h] =
      [BigInt.asUintN(64, first + second), a, b, c, BigInt.asUintN(64, d + first), e, f, g]
  }
  return [a, b, c, d, e, f, g, h].map((word, i) => BigInt.asUintN(64, state[i] + word))
}

/** @param {Uint8Array} bytes @returns {Uint8Array} 64 bytes */
export function sha512(bytes) {
  const whole = padded(bytes, 128)
  let state = START
  for (let at = 0; at < whole.length; at += 128) state = compress512(state, whole.subarray(at, at + 128))
  return concat(...state.map((word) => toBigEndian(word, 8)))
}
