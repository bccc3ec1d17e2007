// Section 7: sealed boxes. A verifier makes the boxes of deals and shares again. Options and signs stand in no
// transcript; they are here for those who go on to write a client.
//
// `shared` is the result of the X25519 exchange between server and seat.

import { bigEndian, concat, toBigEndian } from '../bytes.mjs'
import * as platform from '../platform.mjs'
import { Malformed, decode, encode } from './encoding.mjs'
import { shape } from './shapes.mjs'

const TAG = 16
const NO_NONCE = new Uint8Array(12)
const NOTHING = new Uint8Array(0)
// what is padded to whole blocks does not tell by its length what a seat may do (decision 11)
const BLOCK = 256

/** @typedef {import('./encoding.mjs').Value} Value */
/** @typedef {[card: number, salt: Uint8Array]} HeldCard a card of a hand and the salt of its leaf */

/** @param {Uint8Array} shared @param {Uint8Array} mid @param {Value} info @returns {Uint8Array} */
export const boxKey = (shared, mid, info) => platform.hkdf(shared, mid, encode(info))
/** @param {number} j @param {number} d @param {number} seat */
export const handInfo = (j, d, seat) => ['truc/1/box', j, d, seat]
/** @param {number} j @param {number} d @param {number} giver @param {number} receiver */
export const shareInfo = (j, d, giver, receiver) => ['truc/1/sharebox', j, d, giver, receiver]

/** @param {Uint8Array} key @param {Uint8Array} nonce @param {Uint8Array} box @param {Uint8Array} associated */
function open(key, nonce, box, associated) {
  const plain = box.length < TAG ? null : platform.open(key, nonce, box, associated)
  if (plain === null) throw new Malformed('the box does not open')
  return plain
}

const handShape = shape('hand [[u, bin16]]')

/** A box of a key that seals once: without nonce. @param {Uint8Array} key @param {Value} value */
export const sealOnce = (key, value) => platform.seal(key, NO_NONCE, encode(value), NOTHING)
/** @param {Uint8Array} key @param {Uint8Array} box */
export const openOnce = (key, box) => decode(open(key, NO_NONCE, box, NOTHING))

/** @type {(key: Uint8Array, hand: HeldCard[]) => Uint8Array} */
export const sealHand = sealOnce
/** @param {Uint8Array} key @param {Uint8Array} box @returns {HeldCard[]} */
export const openHand = (key, box) => handShape([openOnce(key, box)]).hand

/** @param {Uint8Array} plain @param {number} [fill] a multiple of 256, to which it is filled up */
export function pad(plain, fill = BLOCK) {
  const padded = new Uint8Array(Math.ceil((plain.length + 1) / fill) * fill)
  padded.set(plain)
  padded[plain.length] = 0x80
  return padded
}

/** @param {Uint8Array} padded */
export function unpad(padded) {
  const mark = padded.findLastIndex((byte) => byte !== 0)
  if (padded[mark] !== 0x80 || padded.length % BLOCK) throw new Malformed('not padded so')
  return padded.subarray(0, mark)
}

/** @type {(key: Uint8Array, nonce: Uint8Array, value: Value, associated: Value, fill?: number) => Uint8Array} */
const sealPadded = (key, nonce, value, associated, fill) =>
  platform.seal(key, nonce, pad(encode(value), fill), encode(associated))
/** @type {(key: Uint8Array, nonce: Uint8Array, box: Uint8Array, associated: Value) => Value} */
const openPadded = (key, nonce, box, associated) => decode(unpad(open(key, nonce, box, encode(associated))))

/** @param {number} epoch @param {number} number */
export const counterNonce = (epoch, number) => toBigEndian(BigInt(epoch) * 2n ** 32n + BigInt(number), 12)

/**
 * Options, and signs to a seat: 8 bytes of counter, then the box.
 *
 * @param {Uint8Array} key
 * @param {Uint8Array} nonce
 * @param {Value} value
 * @param {Value} associated
 * @param {number} [fill]
 */
export function sealPrivate(key, nonce, value, associated, fill) {
  return concat(nonce.subarray(4), sealPadded(key, nonce, value, associated, fill))
}

/** @param {Uint8Array} box */
export const counterOf = (box) => bigEndian(box.subarray(0, 8))

/**
 * @param {Uint8Array} key
 * @param {Uint8Array} box
 * @param {Value} associated
 * @param {bigint | number} after the highest counter taken so far
 */
export function openPrivate(key, box, associated, after) {
  // options of another moment cannot be sent again: the counter rises under each key
  if (box.length < 8 || counterOf(box) <= after) throw new Malformed('no counter, or one that was used')
  return openPadded(key, concat(new Uint8Array(4), box.subarray(0, 8)), box.subarray(8), associated)
}

/**
 * Signs of a seat to the server: 12 random bytes of nonce, then the box.
 *
 * @param {Uint8Array} key
 * @param {Uint8Array} nonce
 * @param {Value} value
 * @param {Value} associated
 */
export function sealUp(key, nonce, value, associated) {
  return concat(nonce, sealPadded(key, nonce, value, associated))
}

/** @param {Uint8Array} key @param {Uint8Array} box @param {Value} associated */
export function openUp(key, box, associated) {
  if (box.length < 12) throw new Malformed('no nonce')
  return openPadded(key, box.subarray(0, 12), box.subarray(12), associated)
}
