// What platform_web.mjs computes itself, against node:crypto, at every length up to some blocks and for random keys.

import { strictEqual } from 'node:assert'
import { createHash, webcrypto } from 'node:crypto'
import { toHex } from '../../client/truc_web/lib/bytes.mjs'
import { sha512 } from '../../client/truc_web/lib/own/sha2.mjs'
import * as node from '../../client/truc_web/lib/platform_node.mjs'

globalThis.crypto ??= webcrypto     // Node 18 has it by this name only
const web = await import('../../client/truc_web/lib/platform_web.mjs')
const agree = (a, b) => strictEqual(toHex(a), toHex(b))

for (let length = 0; length < 300; length++) {
  const [bytes, key, nonce, associated] = [length, 32, 12, length % 40].map(node.randomBytes)
  agree(web.sha256(bytes), node.sha256(bytes))
  agree(sha512(bytes), createHash('sha512').update(bytes).digest())
  agree(web.hkdf(bytes, key, associated), node.hkdf(bytes, key, associated))
  const box = node.seal(key, nonce, bytes, associated)
  agree(web.seal(key, nonce, bytes, associated), box)
  agree(web.open(key, nonce, box, associated), bytes)
  box[length] ^= 1
  strictEqual(web.open(key, nonce, box, associated), null)
}

for (let length = 0; length < 200; length += 20) {
  const [secret, peer, body] = [32, 32, length].map(node.randomBytes)
  agree(web.exchange(secret, peer), node.exchange(secret, peer))
  const [key, signature] = [await node.signingKeyOf(secret), await node.sign(secret, body)]
  strictEqual(web.verify(key, body, signature), true)
  signature[length % 64] ^= 1
  strictEqual(web.verify(key, body, signature), false)
}

// Many products, among them one that is zero, and a secret that comes twice: computed, then multiplied ahead.
const [once, twice] = [32, 32].map(node.randomBytes)
const products = [[once, node.randomBytes(32)], [twice, node.randomBytes(32)], [twice, node.randomBytes(32)], [once, new Uint8Array(32)]]
const expected = node.multiplyAll(products)
web.multiplyAll(products).forEach((point, i) => agree(point, expected[i]))
await web.multiplyAhead(products)
web.multiplyAll(products).forEach((point, i) => agree(point, expected[i]))
strictEqual(toHex(expected[3]), '00'.repeat(32))
