// All that differs between Node and browsers, chosen once: platform_node.mjs or platform_web.mjs. No other module of the
// library names either of them.
//
//   sha256(bytes)                          32 bytes
//   hkdf(secret, salt, info)               HKDF-SHA256, 32 bytes
//   seal(key, nonce, plain, associated)    ChaCha20-Poly1305: what is encrypted, and its tag
//   open(key, nonce, box, associated)      what was sealed, or null
//   verify(key, body, signature)           whether an Ed25519 signature holds; of the key it says nothing
//   exchange(secret, peer)                 X25519, zeros included; for secrets that everybody knows by now
//   multiplyAll(products)                  X25519 of many secrets and peers, as exchange does them one by one
//   randomBytes(length)
//
// and as promises, since browsers have them so:
//
//   attest(key, body, signature)           verifies ahead, where that is quicker: `verify` then finds the answer
//   sign(seed, body)                       an Ed25519 signature
//   signingKeyOf(seed)                     the public key of a seed
//   agree(secret, peer)                    X25519 with a secret that must remain one
//   multiplyAhead(products)                multiplies ahead: `multiplyAll` then finds the answers; null where it is as quick itself

const isNode = globalThis.process?.versions?.node !== undefined
const platform = isNode ? await import('./platform_node.mjs') : await import('./platform_web.mjs')

/** @type {(bytes: Uint8Array) => Uint8Array} */
export const sha256 = platform.sha256
/** @type {(secret: Uint8Array, salt: Uint8Array, info: Uint8Array) => Uint8Array} */
export const hkdf = platform.hkdf
/** @type {(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, associated: Uint8Array) => Uint8Array} */
export const seal = platform.seal
/** @type {(key: Uint8Array, nonce: Uint8Array, box: Uint8Array, associated: Uint8Array) => Uint8Array | null} */
export const open = platform.open
/** @type {(key: Uint8Array, body: Uint8Array, signature: Uint8Array) => boolean} */
export const verify = platform.verify
/** @type {(secret: Uint8Array, peer: Uint8Array) => Uint8Array} */
export const exchange = platform.exchange
/** @typedef {[secret: Uint8Array, peer: Uint8Array]} Product */
/** @type {(products: Product[]) => Uint8Array[]} */
export const multiplyAll = platform.multiplyAll
/** @type {((products: Product[]) => Promise<void>) | null} */
export const multiplyAhead = platform.multiplyAhead
/** @type {(length: number) => Uint8Array} */
export const randomBytes = platform.randomBytes
/** @type {(key: Uint8Array, body: Uint8Array, signature: Uint8Array) => Promise<void>} */
export const attest = platform.attest
/** @type {(seed: Uint8Array, body: Uint8Array) => Promise<Uint8Array>} */
export const sign = platform.sign
/** @type {(seed: Uint8Array) => Promise<Uint8Array>} */
export const signingKeyOf = platform.signingKeyOf
/** @type {(secret: Uint8Array, peer: Uint8Array) => Promise<Uint8Array>} */
export const agree = platform.agree
