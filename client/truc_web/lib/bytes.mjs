// Bytes as the library handles them: Uint8Array, in Node as in browsers.

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** @param {Uint8Array} bytes @returns {string} */
export function toHex(bytes) {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}

/** @param {string} text an even number of hex digits @returns {Uint8Array} */
export function fromHex(text) {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16))
}

/** @param {...Uint8Array} parts @returns {Uint8Array} */
export const concat = (...parts) => concatAll(parts)

/** Of a list that may be longer than arguments may be. @param {Uint8Array[]} parts @returns {Uint8Array} */
export function concatAll(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** @param {Uint8Array} a @param {Uint8Array} b @returns {boolean} */
export function same(a, b) {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * A function of bytes that remembers its answers: the same few keys come again and again, and each takes its time.
 *
 * @template T
 * @param {(bytes: Uint8Array) => T} compute
 * @returns {(bytes: Uint8Array) => T}
 */
export function remembered(compute) {
  const answers = new Map()
  return (bytes) => {
    const name = toHex(bytes)
    if (!answers.has(name)) answers.set(name, compute(bytes))
    return answers.get(name)
  }
}

/** @param {unknown} value @returns {value is Uint8Array} */
export const isBytes = (value) => value instanceof Uint8Array

/** @param {string} text @returns {Uint8Array} its UTF-8 */
export const utf8 = (text) => new TextEncoder().encode(text)

/** The number that bytes are, the most significant first. @param {Uint8Array} bytes @returns {bigint} */
export const bigEndian = (bytes) => BigInt('0x0' + toHex(bytes))

/** The number that bytes are, the least significant first. @param {Uint8Array} bytes @returns {bigint} */
export const littleEndian = (bytes) => bigEndian(Uint8Array.from(bytes).reverse())

/** A number as so many bytes, the most significant first. @param {number | bigint} number @param {number} length */
export const toBigEndian = (number, length) => fromHex(number.toString(16).padStart(2 * length, '0'))

/** A number as so many bytes, the least significant first. @param {number | bigint} number @param {number} length */
export const toLittleEndian = (number, length) => toBigEndian(number, length).reverse()
