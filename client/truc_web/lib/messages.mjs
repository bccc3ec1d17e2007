// The bytes of messages (docs/protocol/transport.md): msgpack as far as they use it. What is signed has stricter rules,
// and does not come this way.
//
// A value is null, a boolean, an integer, a string, a Uint8Array (bin), an array, or an object (map).

import { bigEndian, concat, isBytes, toBigEndian, utf8 } from './bytes.mjs'

const DEEPEST = 16

/** @param {number} first @param {number} length @param {...Uint8Array} parts */
const headed = (first, length, ...parts) => concat(Uint8Array.of(first), toBigEndian(length, 4), ...parts)

/**
 * A message as bytes: every integer and length in its longest form, which is allowed here.
 *
 * @param {unknown} value fields that are undefined are left out
 * @returns {Uint8Array}
 */
export function pack(value) {
  if (value === null) return Uint8Array.of(0xc0)
  if (typeof value === 'boolean') return Uint8Array.of(value ? 0xc3 : 0xc2)
  if (typeof value === 'string') return headed(0xdb, utf8(value).length, utf8(value))
  if (isBytes(value)) return headed(0xc6, value.length, value)
  if (Array.isArray(value)) return headed(0xdd, value.length, ...value.map(pack))
  if (typeof value === 'object') {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined)
    return headed(0xdf, entries.length, ...entries.flat().map(pack))
  }
  return concat(Uint8Array.of(0xd3), toBigEndian(BigInt.asUintN(64, BigInt(/** @type {number} */ (value))), 8))
}

/**
 * Bytes as a message; an Error where they are none.
 *
 * @param {Uint8Array} bytes
 * @returns {any}
 */
export function unpack(bytes) {
  let at = 0
  /** @type {(condition: boolean, fault: string) => void} */
  const must = (condition, fault) => { if (!condition) throw new Error(`no message: ${fault}`) }
  /** @param {number} length */
  const take = (length) => {
    must(at + length <= bytes.length, 'it breaks off')
    at += length
    return bytes.subarray(at - length, at)
  }
  /** @param {number} length */
  const uint = (length) => Number(bigEndian(take(length)))
  /** @param {number} length */
  const int = (length) => Number(BigInt.asIntN(8 * length, bigEndian(take(length))))
  // a byte order mark is a letter like any other here; without ignoreBOM the decoder would swallow one
  /** @param {number} length */
  const str = (length) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(take(length))
  /** @param {number} length @param {number} depth */
  const array = (length, depth) => {
    must(depth <= DEEPEST, 'nested too deep')
    const items = []
    while (items.length < length) items.push(value(depth + 1))
    return items
  }
  /** @param {number} length @param {number} depth @returns {object} */
  const map = (length, depth) => {
    const items = array(2 * length, depth)
    const names = items.filter((_, i) => i % 2 === 0)
    must(names.every((name) => typeof name === 'string') && new Set(names).size === length, 'names')
    return Object.fromEntries(names.map((name, i) => [name, items[2 * i + 1]]))
  }
  /** @param {number} depth @returns {any} */
  const value = (depth) => {
    const first = take(1)[0]
    if (first < 0x80) return first
    if (first < 0x90) return map(first - 0x80, depth)
    if (first < 0xa0) return array(first - 0x90, depth)
    if (first < 0xc0) return str(first - 0xa0)
    if (first >= 0xe0) return first - 0x100
    switch (first) {
      case 0xc0: return null
      case 0xc2: case 0xc3: return first === 0xc3
      case 0xc4: case 0xc5: case 0xc6: return take(uint(1 << (first - 0xc4)))
      case 0xcc: case 0xcd: case 0xce: case 0xcf: return uint(1 << (first - 0xcc))
      case 0xd0: case 0xd1: case 0xd2: case 0xd3: return int(1 << (first - 0xd0))
      case 0xd9: case 0xda: case 0xdb: return str(uint(1 << (first - 0xd9)))
      case 0xdc: case 0xdd: return array(uint(2 << (first - 0xdc)), depth)
      case 0xde: case 0xdf: return map(uint(2 << (first - 0xde)), depth)
      default: return must(false, 'a type that does not belong here')
    }
  }
  const message = value(1)
  must(at === bytes.length, 'something follows it')
  return message
}
