// Section 2: which keys are admitted, when a signature holds, X25519.
//
// node:crypto makes and checks signatures and exchanges; the admission of keys is done here, with big integers.

import { createPrivateKey, createPublicKey, diffieHellman, sign as signBytes, verify } from 'node:crypto'
import { Malformed } from './encoding.mjs'

const P = 2n ** 255n - 19n
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const mod = (a) => ((a % P) + P) % P
const D = mod(-121665n * power(121666n, P - 2n))
const ROOT_OF_MINUS_ONE = power(2n, (P - 1n) / 4n)

function power(base, exponent) {
  let result = 1n
  for (let square = mod(base); exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}

const littleEndian = (bytes) => BigInt('0x' + Buffer.from(bytes).reverse().toString('hex'))

// The point [X, Y, Z, T] (extended coordinates, RFC 8032 section 5.1.4), or null if there is none.
function decompress(bytes) {
  const number = littleEndian(bytes)
  const [sign, y] = [number >> 255n, number & (2n ** 255n - 1n)]
  if (y >= P) return null
  const u = mod(y * y - 1n)
  const v = mod(D * y * y + 1n)
  let x = mod(u * power(v, 3n) * power(u * power(v, 7n), (P - 5n) / 8n))
  if (mod(v * x * x) === mod(-u)) x = mod(x * ROOT_OF_MINUS_ONE)
  if (mod(v * x * x) !== u || (x === 0n && sign === 1n)) return null
  if ((x & 1n) !== sign) x = P - x
  return [x, y, 1n, mod(x * y)]
}

function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = mod((y1 - x1) * (y2 - x2))
  const b = mod((y1 + x1) * (y2 + x2))
  const c = mod(2n * D * t1 * t2)
  const d = mod(2n * z1 * z2)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}

function multiply(point, scalar) {
  let result = [0n, 1n, 1n, 0n]
  for (let double = point; scalar > 0n; scalar >>= 1n) {
    if (scalar & 1n) result = add(result, double)
    double = add(double, double)
  }
  return result
}

const isIdentity = ([x, y, z]) => x === 0n && y === z

// A function of bytes that remembers its answers: the same few keys come again and again, and each takes its time.
function remembered(compute) {
  const answers = new Map()
  return (bytes) => {
    const name = bytes.toString('hex')
    if (!answers.has(name)) answers.set(name, compute(bytes))
    return answers.get(name)
  }
}

// C4: a point of the subgroup of prime order, canonically encoded, not the identity.
export const isAdmissible = remembered((key) => {
  const point = key.length === 32 ? decompress(key) : null
  return point !== null && !isIdentity(point) && isIdentity(multiply(point, L))
})

// A bare key as node:crypto wants it: after a prefix (DER) that names the curve.
function keyMaker(create, type, prefix) {
  return remembered((key) => create({ key: Buffer.concat([Buffer.from(prefix, 'hex'), key]), format: 'der', type }))
}

const signingPublic = keyMaker(createPublicKey, 'spki', '302a300506032b6570032100')
const signingSecret = keyMaker(createPrivateKey, 'pkcs8', '302e020100300506032b657004220420')
const boxPublic = keyMaker(createPublicKey, 'spki', '302a300506032b656e032100')
const boxSecret = keyMaker(createPrivateKey, 'pkcs8', '302e020100300506032b656e04220420')

const publicOf = (secret) => Buffer.from(createPublicKey(secret).export({ format: 'jwk' }).x, 'base64url')
export const signingKeyOf = (seed) => publicOf(signingSecret(seed))
export const boxKeyOf = (secret) => publicOf(boxSecret(secret))
export const sign = (seed, body) => signBytes(null, body, signingSecret(seed))

// C3. OpenSSL checks S < L and the cofactorless equation by comparing bytes; of the key it says nothing.
export function signatureHolds(key, body, signature) {
  if (key.length !== 32 || signature.length !== 64) return false
  try {
    return verify(null, body, signingPublic(key), signature)
  } catch {
    return false
  }
}

export function exchange(secret, peer) {
  if (secret.length !== 32 || peer.length !== 32) throw new Malformed('no X25519 key')
  try {
    const shared = diffieHellman({ privateKey: boxSecret(secret), publicKey: boxPublic(peer) })
    if (shared.some((byte) => byte !== 0)) return shared
  } catch {
    // Some versions of OpenSSL refuse where others give zeros.
  }
  throw new Malformed('no exchange with this key')
}

// C7: below 2^255 − 19, and no exchange gives zero. One secret shows it for all, as they are multiples of 8.
export function isSoundBoxKey(x) {
  if (x.length !== 32 || littleEndian(x) >= P) return false
  try {
    return exchange(Buffer.alloc(32, 7), x) !== null
  } catch (error) {
    if (error instanceof Malformed) return false
    throw error
  }
}
