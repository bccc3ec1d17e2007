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
const BLOCK = 256

export const boxKey = (shared, mid, info) => platform.hkdf(shared, mid, encode(info))
export const handInfo = (j, d, seat) => ['truc/1/box', j, d, seat]
export const shareInfo = (j, d, giver, receiver) => ['truc/1/sharebox', j, d, giver, receiver]

function open(key, nonce, box, associated) {
  const plain = box.length < TAG ? null : platform.open(key, nonce, box, associated)
  if (plain === null) throw new Malformed('the box does not open')
  return plain
}

const handShape = shape('hand [[u, bin16]]')

export const sealHand = (key, hand) => platform.seal(key, NO_NONCE, encode(hand), NOTHING)
export const openHand = (key, box) => handShape([decode(open(key, NO_NONCE, box, NOTHING))]).hand

export function pad(plain, fill = BLOCK) {
  const padded = new Uint8Array(Math.ceil((plain.length + 1) / fill) * fill)
  padded.set(plain)
  padded[plain.length] = 0x80
  return padded
}

export function unpad(padded) {
  const mark = padded.findLastIndex((byte) => byte !== 0)
  if (padded[mark] !== 0x80 || padded.length % BLOCK) throw new Malformed('not padded so')
  return padded.subarray(0, mark)
}

const sealPadded = (key, nonce, value, associated, fill) =>
  platform.seal(key, nonce, pad(encode(value), fill), encode(associated))
const openPadded = (key, nonce, box, associated) => decode(unpad(open(key, nonce, box, encode(associated))))

export const counterNonce = (epoch, number) => toBigEndian(BigInt(epoch) * 2n ** 32n + BigInt(number), 12)

// Options, and signs to a seat: 8 bytes of counter, then the box. `after` is the highest counter taken so far.
export function sealPrivate(key, nonce, value, associated, fill) {
  return concat(nonce.subarray(4), sealPadded(key, nonce, value, associated, fill))
}

export const counterOf = (box) => bigEndian(box.subarray(0, 8))

export function openPrivate(key, box, associated, after) {
  if (box.length < 8 || counterOf(box) <= after) throw new Malformed('no counter, or one that was used')
  return openPadded(key, concat(new Uint8Array(4), box.subarray(0, 8)), box.subarray(8), associated)
}

// Signs of a seat to the server: 12 random bytes of nonce, then the box.
export function sealUp(key, nonce, value, associated) {
  return concat(nonce, sealPadded(key, nonce, value, associated))
}

export function openUp(key, box, associated) {
  if (box.length < 12) throw new Malformed('no nonce')
  return openPadded(key, box.subarray(0, 12), box.subarray(12), associated)
}
