// Loaded before a verifier that judges many lists with the same beginning: what node:crypto has computed once is remembered.

import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const textOf = (bytes) => Buffer.from(bytes).toString('latin1')
const names = new WeakMap()     // of keys

/** The function, computed once for what has the same name; a key that it makes has its name from then on. */
const once = (compute, nameOf) => {
  const found = new Map()
  return (...given) => {
    const name = nameOf(...given)
    if (!found.has(name)) found.set(name, compute(...given))
    const value = found.get(name)
    if (value instanceof crypto.KeyObject) names.set(value, name)
    return value
  }
}

const nameOfKey = (it) => names.get(it) ?? (it.format === 'jwk' ? `${it.key.d ?? ''} ${it.key.x}` : textOf(it.key))
crypto.createPublicKey = once(crypto.createPublicKey, nameOfKey)
crypto.createPrivateKey = once(crypto.createPrivateKey, nameOfKey)
crypto.diffieHellman = once(crypto.diffieHellman, ({ privateKey, publicKey }) => `${names.get(privateKey)} by ${names.get(publicKey)}`)
crypto.verify = once(crypto.verify, (_, body, key, signature) => [names.get(key), textOf(signature), textOf(body)].join('\n'))
syncBuiltinESMExports()
