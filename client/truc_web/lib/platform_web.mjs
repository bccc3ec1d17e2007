// Browsers: signing, and whatever needs a secret, by WebCrypto; the rest is our own, since WebCrypto has it as promises only
// or not at all. See platform.mjs. Outside a secure context there is no WebCrypto: then one can verify, but not play.

import { concat, fromHex, same, toHex } from './bytes.mjs'
import { exchange, verify as verifySlowly } from './own/curve25519.mjs'

export { open, seal } from './own/chacha.mjs'
export { hkdf, sha256 } from './own/sha2.mjs'
export { exchange }

const subtle = globalThis.crypto.subtle

/** @param {number} length */
export const randomBytes = (length) => globalThis.crypto.getRandomValues(new Uint8Array(length))

// By the signature: the key and the body for which WebCrypto has said that it holds.
/** @type {WeakMap<Uint8Array, { key: Uint8Array, body: Uint8Array }>} */
const attested = new WeakMap()

// A yes of WebCrypto counts. After a no it is computed here: some refuse what holds (R is the identity), or lack Ed25519.
/** @param {Uint8Array} key @param {Uint8Array} body @param {Uint8Array} signature */
export function verify(key, body, signature) {
  const known = attested.get(signature)
  return (known !== undefined && same(known.key, key) && same(known.body, body)) || verifySlowly(key, body, signature)
}

/** @param {Uint8Array} key @param {Uint8Array} body @param {Uint8Array} signature */
export async function attest(key, body, signature) {
  try {
    const publicKey = await subtle.importKey('raw', key, 'Ed25519', false, ['verify'])
    if (await subtle.verify('Ed25519', publicKey, signature, body)) attested.set(signature, { key, body })
  } catch {
    // No such algorithm here, or no such key: `verify` will tell.
  }
}

// A secret as WebCrypto wants it: after a prefix (DER) that names the curve.
/**
 * @param {string} name @param {string} prefix @param {Uint8Array} secret @param {boolean} isShown @param {KeyUsage[]} use
 */
const secretKey = (name, prefix, secret, isShown, use) =>
  subtle.importKey('pkcs8', concat(fromHex(prefix), secret), name, isShown, use)
/** @param {Uint8Array} seed @param {boolean} isShown */
const signingSecret = (seed, isShown) =>
  secretKey('Ed25519', '302e020100300506032b657004220420', seed, isShown, ['sign'])
/** @param {Uint8Array} secret */
const boxSecret = (secret) => secretKey('X25519', '302e020100300506032b656e04220420', secret, false, ['deriveBits'])

/** @param {Uint8Array} seed @param {Uint8Array} body */
export async function sign(seed, body) {
  return new Uint8Array(await subtle.sign('Ed25519', await signingSecret(seed, false), body))
}

/** @param {Uint8Array} seed */
export async function signingKeyOf(seed) {
  const { x = '' } = await subtle.exportKey('jwk', await signingSecret(seed, true))
  const text = atob(x.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

/** @param {Uint8Array} secret @param {Uint8Array} peer */
export async function agree(secret, peer) {
  const ours = await boxSecret(secret)
  try {
    const theirs = await subtle.importKey('raw', peer, 'X25519', false, [])
    return new Uint8Array(await subtle.deriveBits({ name: 'X25519', public: theirs }, ours, 256))
  } catch {
    return new Uint8Array(32)     // WebCrypto refuses where the exchange gives zeros, Firefox the key already
  }
}

// By secret and peer: what was multiplied ahead last.
/** @type {Map<string, Uint8Array>} */
let products = new Map()
/** @param {Uint8Array} secret @param {Uint8Array} peer */
const productName = (secret, peer) => toHex(secret) + toHex(peer)

/** @param {import('./platform.mjs').Product[]} asked */
export const multiplyAll = (asked) =>
  asked.map(([secret, peer]) => products.get(productName(secret, peer)) ?? exchange(secret, peer))

/** @param {import('./platform.mjs').Product[]} asked */
export async function multiplyAhead(asked) {
  // those of the record before are not asked for again
  const found = products = new Map()
  /** @type {Map<Uint8Array, Promise<CryptoKey>>} */
  const keys = new Map()     // a secret that comes several times is read once
  await Promise.all(asked.map(async ([secret, peer]) => {
    try {
      if (!keys.has(secret)) keys.set(secret, boxSecret(secret))
      const ours = /** @type {CryptoKey} */ (await keys.get(secret))
      const theirs = await subtle.importKey('raw', peer, 'X25519', false, [])
      const shared = await subtle.deriveBits({ name: 'X25519', public: theirs }, ours, 256)
      found.set(productName(secret, peer), new Uint8Array(shared))
    } catch {
      // No such algorithm here, or zeros come out: `multiplyAll` will tell.
    }
  }))
}
