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

export const {
  sha256, hkdf, seal, open, verify, exchange, multiplyAll, multiplyAhead, randomBytes, attest, sign, signingKeyOf, agree
} = platform

/** @typedef {[secret: Uint8Array, peer: Uint8Array]} Product */
