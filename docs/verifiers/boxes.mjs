// Section 7: sealed boxes. A verifier makes the boxes of deals and shares again. Options and signs stand in no
// transcript; they are here for those who go on to write a client.
//
// `shared` is the result of the X25519 exchange between server and seat.

import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { Malformed, decode, encode } from './encoding.mjs'
import { shape } from './shapes.mjs'

const CIPHER = 'chacha20-poly1305'
const TAG = 16
const NO_NONCE = Buffer.alloc(12)
const BLOCK = 256

export const boxKey = (shared, mid, info) => Buffer.from(hkdfSync('sha256', shared, mid, encode(info), 32))
export const handInfo = (j, d, seat) => ['truc/1/box', j, d, seat]
export const shareInfo = (j, d, giver, receiver) => ['truc/1/sharebox', j, d, giver, receiver]

function seal(key, nonce, plain, associated) {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  cipher.setAAD(associated, { plaintextLength: plain.length })
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function open(key, nonce, box, associated) {
  if (box.length < TAG) throw new Malformed('shorter than its tag')
  const end = box.length - TAG
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  decipher.setAAD(associated, { plaintextLength: end })
  decipher.setAuthTag(box.subarray(end))
  try {
    return Buffer.concat([decipher.update(box.subarray(0, end)), decipher.final()])
  } catch {
    throw new Malformed('the box does not open')
  }
}

const handShape = shape('hand [[u, bin16]]')

export const sealHand = (key, hand) => seal(key, NO_NONCE, encode(hand), Buffer.alloc(0))
export const openHand = (key, box) => handShape([decode(open(key, NO_NONCE, box, Buffer.alloc(0)))]).hand

export function pad(plain, fill = BLOCK) {
  const padded = Buffer.alloc(Math.ceil((plain.length + 1) / fill) * fill)
  plain.copy(padded)
  padded[plain.length] = 0x80
  return padded
}

export function unpad(padded) {
  const mark = padded.findLastIndex((byte) => byte !== 0)
  if (padded[mark] !== 0x80 || padded.length % BLOCK) throw new Malformed('not padded so')
  const plain = padded.subarray(0, mark)
  return plain
}

const sealPadded = (key, nonce, value, associated, fill) => seal(key, nonce, pad(encode(value), fill), encode(associated))
const openPadded = (key, nonce, box, associated) => decode(unpad(open(key, nonce, box, encode(associated))))

export function counterNonce(epoch, number) {
  return Buffer.from((BigInt(epoch) * 2n ** 32n + BigInt(number)).toString(16).padStart(24, '0'), 'hex')
}

// Options, and signs to a seat: 8 bytes of counter, then the box. `after` is the highest counter taken so far.
export function sealPrivate(key, nonce, value, associated, fill) {
  return Buffer.concat([nonce.subarray(4), sealPadded(key, nonce, value, associated, fill)])
}

export function openPrivate(key, box, associated, after) {
  if (box.length < 8 || box.readBigUInt64BE(0) <= after) throw new Malformed('no counter, or one that was used')
  return openPadded(key, Buffer.concat([Buffer.alloc(4), box.subarray(0, 8)]), box.subarray(8), associated)
}

// Signs of a seat to the server: 12 random bytes of nonce, then the box.
export function sealUp(key, nonce, value, associated) {
  return Buffer.concat([nonce, sealPadded(key, nonce, value, associated)])
}

export function openUp(key, box, associated) {
  if (box.length < 12) throw new Malformed('no nonce')
  return openPadded(key, box.subarray(0, 12), box.subarray(12), associated)
}
