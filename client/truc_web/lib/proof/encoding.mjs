// Section 1: the canonical encoding, and the tagged hash H.
//
// A value is null, a boolean, a number (integer), a string (str), a Uint8Array (bin) or an array.

import { bigEndian, concat, concatAll, isBytes, same, toBigEndian, utf8 } from '../bytes.mjs'
import { sha256 } from '../platform.mjs'

export { sha256 }

const BODY_LIMIT = 65536
const DEPTH_LIMIT = 6

// Thrown for bytes that are not what they should be; never for a fault of this program.
export class Malformed extends Error {}

// The forms of a number or length, the shortest first: [below, first byte, bytes that follow].
/** @typedef {[below: number, first: number, bytes: number][]} Forms */

/** @type {Forms} */
const INTEGER = [[0x100, 0xcc, 1], [0x10000, 0xcd, 2], [2 ** 32, 0xce, 4], [2 ** 53, 0xcf, 8]]
/** @type {Forms} */
const STR = [[0x100, 0xd9, 1]]
/** @type {Forms} */
const BIN = [[0x100, 0xc4, 1], [0x10000, 0xc5, 2], [2 ** 32, 0xc6, 4]]
/** @type {Forms} */
const ARRAY = [[0x10000, 0xdc, 2]]

/** @param {number} number @param {Forms} forms */
function shortest(number, forms) {
  const form = forms.find(([below]) => number < below)
  if (form === undefined) throw new Malformed('too large')
  const [, first, bytes] = form
  return concat(Uint8Array.of(first), toBigEndian(number, bytes))
}

// Numbers and lengths below `count` stand in the first byte itself.
/** @param {number} number @param {number} count @param {number} first @param {Forms} forms */
const header = (number, count, first, forms) => number < count ? Uint8Array.of(first + number) : shortest(number, forms)

/**
 * @typedef {null | boolean | number | string | Uint8Array | any[]} Value an array is of values
 */

/** @param {Value} value @returns {Uint8Array} */
export function encode(value) {
  if (value === null) return Uint8Array.of(0xc0)
  if (value === false) return Uint8Array.of(0xc2)
  if (value === true) return Uint8Array.of(0xc3)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || value < 0) throw new Malformed('integer out of range')
    return header(value, 0x80, 0, INTEGER)
  }
  if (typeof value === 'string') {
    if (!/^[\x20-\x7e]*$/.test(value)) throw new Malformed('no printable ASCII')
    return concat(header(value.length, 32, 0xa0, STR), utf8(value))
  }
  if (isBytes(value)) return concat(shortest(value.length, BIN), value)
  if (Array.isArray(value)) return concatAll([header(value.length, 16, 0x90, ARRAY), ...value.map(encode)])
  throw new TypeError('no value of the encoding')
}

// Reads every form; decode() then insists on the shortest.
class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes
    this.at = 0
  }

  /** @param {number} length */
  take(length) {
    if (this.at + length > this.bytes.length) throw new Malformed('bytes end within a value')
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  /** @param {number} length */
  integer(length) {
    const number = bigEndian(this.take(length))
    if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed('integer out of range')
    return Number(number)
  }

  // What is no ASCII comes out as something that `encode` refuses.
  /** @param {number} length */
  text(length) {
    return String.fromCharCode(...this.take(length))
  }

  /** @param {number} length @param {number} depth */
  array(length, depth) {
    if (depth >= DEPTH_LIMIT) throw new Malformed('arrays nested too deep')
    /** @type {Value[]} */
    const items = []
    for (let i = 0; i < length; i++) items.push(this.value(depth + 1))
    return items
  }

  /** @param {number} depth @returns {Value} */
  value(depth) {
    const first = this.take(1)[0]
    if (first < 0x80) return first
    if (first >= 0x90 && first <= 0x9f) return this.array(first - 0x90, depth)
    if (first >= 0xa0 && first <= 0xbf) return this.text(first - 0xa0)
    switch (first) {
      case 0xc0: return null
      case 0xc2: return false
      case 0xc3: return true
      case 0xc4: return this.take(this.integer(1))
      case 0xc5: return this.take(this.integer(2))
      case 0xc6: return this.take(this.integer(4))
      case 0xcc: return this.integer(1)
      case 0xcd: return this.integer(2)
      case 0xce: return this.integer(4)
      case 0xcf: return this.integer(8)
      case 0xd9: return this.text(this.integer(1))
      case 0xdc: return this.array(this.integer(2), depth)
      default: throw new Malformed('a type outside the profile')
    }
  }
}

/** The one value of these bytes, or Malformed. @param {Uint8Array} bytes @param {number} [limit] @returns {Value} */
export function decode(bytes, limit = BODY_LIMIT) {
  if (bytes.length > limit) throw new Malformed('too long')
  const value = new Reader(bytes).value(0)
  // Trailing bytes, longer forms and unprintable characters all show here.
  if (!same(encode(value), bytes)) throw new Malformed('not canonical')
  return value
}

/** @param {Uint8Array} bytes @returns {boolean} */
export function isUtf8(bytes) {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** The tagged hash. @param {string} tag @param {...Value} fields @returns {Uint8Array} */
export const H = (tag, ...fields) => sha256(encode(['truc/1/' + tag, ...fields]))
