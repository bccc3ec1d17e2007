// ChaCha20-Poly1305 (RFC 8439), synchronous; browsers do not have it at all.

import { concat, littleEndian, toLittleEndian, utf8 } from '../bytes.mjs'

const TAG = 16
const CONSTANT = words(utf8('expand 32-byte k'))

/** @param {Uint8Array} bytes */
function words(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i, true))
}

/** @param {number} word @param {number} by */
const rotated = (word, by) => word << by | word >>> 32 - by

/** @param {Uint32Array} s @param {number} a @param {number} b @param {number} c @param {number} d */
function quarter(s, a, b, c, d) {
  s[a] += s[b]
  s[d] = rotated(s[d] ^ s[a], 16)
  s[c] += s[d]
  s[b] = rotated(s[b] ^ s[c], 12)
  s[a] += s[b]
  s[d] = rotated(s[d] ^ s[a], 8)
  s[c] += s[d]
  s[b] = rotated(s[b] ^ s[c], 7)
}

// The 64 bytes of key stream with this number.
/** @param {Uint8Array} key @param {Uint8Array} nonce @param {number} counter */
function blockOf(key, nonce, counter) {
  const start = Uint32Array.of(...CONSTANT, ...words(key), counter, ...words(nonce))
  const state = start.slice()
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 4; i++) quarter(state, i, 4 + i, 8 + i, 12 + i)
    for (let i = 0; i < 4; i++) quarter(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
  }
  const block = new DataView(new ArrayBuffer(64))
  state.forEach((word, i) => block.setUint32(4 * i, word + start[i], true))
  return new Uint8Array(block.buffer)
}

/** @param {Uint8Array} key @param {Uint8Array} nonce @param {Uint8Array} bytes */
function crypt(key, nonce, bytes) {
  const result = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at += 64) {
    const stream = blockOf(key, nonce, 1 + at / 64)
    for (let i = at; i < Math.min(at + 64, bytes.length); i++) result[i] = bytes[i] ^ stream[i - at]
  }
  return result
}

const P = 2n ** 130n - 5n
// RFC 8439, 2.5: bits of r that are always zero
const CLAMP = 0x0ffffffc0ffffffc0ffffffc0fffffffn

/** @param {Uint8Array} key @param {Uint8Array} bytes */
function poly1305(key, bytes) {
  const [r, s] = [littleEndian(key.subarray(0, 16)) & CLAMP, littleEndian(key.subarray(16))]
  let sum = 0n
  for (let at = 0; at < bytes.length; at += 16) {
    const block = bytes.subarray(at, at + 16)
    sum = (sum + littleEndian(block) + (1n << BigInt(8 * block.length))) * r % P
  }
  return toLittleEndian(BigInt.asUintN(128, sum + s), 16)
}

/** @param {Uint8Array} key @param {Uint8Array} nonce @param {Uint8Array} encrypted @param {Uint8Array} associated */
function tagOf(key, nonce, encrypted, associated) {
  /** @param {Uint8Array} bytes */
  const zeros = (bytes) => new Uint8Array((16 - bytes.length % 16) % 16)
  const lengths = [associated, encrypted].map((bytes) => toLittleEndian(bytes.length, 8))
  const authentic = concat(associated, zeros(associated), encrypted, zeros(encrypted), ...lengths)
  return poly1305(blockOf(key, nonce, 0).subarray(0, 32), authentic)
}

/**
 * @param {Uint8Array} key 32 bytes
 * @param {Uint8Array} nonce 12 bytes
 * @param {Uint8Array} plain
 * @param {Uint8Array} associated
 * @returns {Uint8Array} what is encrypted, and its tag
 */
export function seal(key, nonce, plain, associated) {
  const encrypted = crypt(key, nonce, plain)
  return concat(encrypted, tagOf(key, nonce, encrypted, associated))
}

/**
 * @param {Uint8Array} key
 * @param {Uint8Array} nonce
 * @param {Uint8Array} box at least as long as its tag
 * @param {Uint8Array} associated
 * @returns {Uint8Array | null} null if the tag is another
 */
export function open(key, nonce, box, associated) {
  const encrypted = box.subarray(0, box.length - TAG)
  const tag = tagOf(key, nonce, encrypted, associated)
  const difference = tag.reduce((bits, byte, i) => bits | byte ^ box[encrypted.length + i], 0)     // in constant time
  return difference === 0 ? crypt(key, nonce, encrypted) : null
}
