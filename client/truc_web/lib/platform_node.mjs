// Node: cryptography by node:crypto; connections by sockets and TLS; what must not be forgotten in a file. See platform.mjs.

import {
  createCipheriv, createDecipheriv, createHash, createPrivateKey, createPublicKey, diffieHellman, hkdfSync,
  randomBytes as drawBytes, sign as signBytes, verify as verifyBytes
} from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect as connectClear, isIP } from 'node:net'
import { connect as connectEncrypted } from 'node:tls'
import { bigEndian, concat, fromHex, remembered, toBigEndian, toHex } from './bytes.mjs'

const CIPHER = 'chacha20-poly1305'
const TAG = 16
const PROTOCOL = 'truc/1'     // by its ALPN name

/** A Buffer as what it is besides. @param {Buffer} buffer @returns {Uint8Array} */
const plainBytes = (buffer) => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)

/** @param {Uint8Array} bytes */
export const sha256 = (bytes) => plainBytes(createHash('sha256').update(bytes).digest())
/** @param {Uint8Array} secret @param {Uint8Array} salt @param {Uint8Array} info */
export const hkdf = (secret, salt, info) => new Uint8Array(hkdfSync('sha256', secret, salt, info, 32))
/** @param {number} length */
export const randomBytes = (length) => plainBytes(drawBytes(length))

/** @param {Uint8Array} key @param {Uint8Array} nonce @param {Uint8Array} plain @param {Uint8Array} associated */
export function seal(key, nonce, plain, associated) {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  cipher.setAAD(associated, { plaintextLength: plain.length })
  return concat(cipher.update(plain), cipher.final(), cipher.getAuthTag())
}

/** @param {Uint8Array} key @param {Uint8Array} nonce @param {Uint8Array} box @param {Uint8Array} associated */
export function open(key, nonce, box, associated) {
  const end = box.length - TAG
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  decipher.setAAD(associated, { plaintextLength: end })
  decipher.setAuthTag(box.subarray(end))
  try {
    return concat(decipher.update(box.subarray(0, end)), decipher.final())
  } catch {
    return null
  }
}

// A bare key as node:crypto wants it: after a prefix (DER) that names the curve.
/**
 * @template {string} Type
 * @param {(given: { key: Buffer, format: 'der', type: Type }) => import('node:crypto').KeyObject} create
 * @param {Type} type
 * @param {string} prefix
 */
function keyMaker(create, type, prefix) {
  return remembered((key) => create({ key: Buffer.concat([fromHex(prefix), key]), format: 'der', type }))
}

const signingPublic = keyMaker(createPublicKey, 'spki', '302a300506032b6570032100')
const signingSecret = keyMaker(createPrivateKey, 'pkcs8', '302e020100300506032b657004220420')

// The same of X25519, as a JWK, which is read eight times as fast; of a secret one `d` alone counts.
/** @param {Uint8Array} key */
const textOf = (key) => Buffer.from(key.buffer, key.byteOffset, key.length).toString('base64url')
const X25519 = { kty: 'OKP', crv: 'X25519', x: '' }
/** @param {Uint8Array} key */
const boxPublicOnce = (key) => createPublicKey({ key: { ...X25519, x: textOf(key) }, format: 'jwk' })
/** @param {Uint8Array} key */
const boxSecretOnce = (key) => createPrivateKey({ key: { ...X25519, d: textOf(key) }, format: 'jwk' })
const boxPublic = remembered(boxPublicOnce)
const boxSecret = remembered(boxSecretOnce)

// OpenSSL checks S < L and the cofactorless equation by comparing bytes.
/** @param {Uint8Array} key @param {Uint8Array} body @param {Uint8Array} signature */
export function verify(key, body, signature) {
  try {
    return verifyBytes(null, body, signingPublic(key), signature)
  } catch {
    return false
  }
}

export async function attest() {}     // `verify` is as quick

/** @param {Uint8Array} seed @param {Uint8Array} body */
export const sign = async (seed, body) => plainBytes(signBytes(null, body, signingSecret(seed)))

/** @param {Uint8Array} seed */
export async function signingKeyOf(seed) {
  return plainBytes(Buffer.from(createPublicKey(signingSecret(seed)).export({ format: 'jwk' }).x ?? '', 'base64url'))
}

/** @param {import('node:crypto').KeyObject} privateKey @param {import('node:crypto').KeyObject} publicKey */
function agreed(privateKey, publicKey) {
  try {
    return plainBytes(diffieHellman({ privateKey, publicKey }))
  } catch {
    return new Uint8Array(32)     // some versions of OpenSSL refuse where others give zeros
  }
}

/** @param {Uint8Array} secret @param {Uint8Array} peer */
export const exchange = (secret, peer) => agreed(boxSecret(secret), boxPublic(peer))

// A secret that comes several times in a row is read once; nothing is remembered, as hardly any comes again.
/** @param {import('./platform.mjs').Product[]} products */
export function multiplyAll(products) {
  /** @type {Uint8Array | null} */
  let newest = null
  /** @type {any} */
  let privateKey
  return products.map(([secret, peer]) => {
    if (secret !== newest) [newest, privateKey] = [secret, boxSecretOnce(secret)]
    return agreed(privateKey, boxPublicOnce(peer))
  })
}

export const multiplyAhead = null     // `multiplyAll` is as quick

/** @param {Uint8Array} secret @param {Uint8Array} peer */
export const agree = async (secret, peer) => exchange(secret, peer)

/**
 * A connection of frames, for Line: see line.mjs. The server's key says whose certificate it is, and no authority:
 * whoever does not check the hello talks to anybody.
 *
 * @param {import('./line.mjs').Place} place
 * @returns {import('./line.mjs').Connection}
 */
export function connect({ host, port, isEncrypted }) {
  const secure = isEncrypted
    ? connectEncrypted({
      host, port, servername: isIP(host) ? '' : host, minVersion: 'TLSv1.3', ALPNProtocols: [PROTOCOL],
      rejectUnauthorized: false
    })
    : null
  const socket = secure ?? connectClear(port, host)
  let tell = () => {}
  socket.on('error', () => {})     // `frames` throws it too
  socket.on('timeout', () => tell())
  return {
    get binding() {
      return secure === null ? null : sha256(secure.getPeerCertificate().raw)
    },
    get isOfTruc() {
      return secure === null || secure.alpnProtocol === PROTOCOL
    },
    send: (payload) => socket.write(concat(toBigEndian(payload.length, 4), payload)),
    close: () => socket.destroy(),
    onSilence: (seconds, then) => {
      tell = then
      socket.setTimeout(1000 * seconds)
    },
    frames: (limit) => framesOf(socket, limit)
  }
}

/** @param {import('node:net').Socket} socket @param {() => number} limit */
async function * framesOf(socket, limit) {
  let held = new Uint8Array(0)
  for await (const piece of socket) {
    held = concat(held, piece)
    while (held.length >= 4) {
      const length = Number(bigEndian(held.subarray(0, 4)))
      if (length === 0 || length > limit()) throw new Error(`a frame of ${length} bytes`)
      if (held.length < 4 + length) break
      yield held.subarray(4, 4 + length)
      held = held.subarray(4 + length)
    }
  }
}

const MARK = 'hex:'     // bytes are strings of hex after this mark
/** @param {string} _ @param {unknown} value */
const toText = (_, value) => value instanceof Uint8Array ? MARK + toHex(value) : value
/** @param {string} _ @param {unknown} value */
const fromText = (_, value) =>
  typeof value === 'string' && value.startsWith(MARK) ? fromHex(value.slice(MARK.length)) : value

/**
 * What a player must not forget, for Seat and Player (see seat.mjs): one JSON file that only its owner may read. Two
 * programs must not use one file at the same time.
 *
 * @param {string} path
 * @returns {import('./seat.mjs').Store}
 */
export function openStore(path) {
  const kept = existsSync(path)
    ? JSON.parse(readFileSync(path, 'utf8'), fromText)
    : { master: randomBytes(32), pins: {}, tables: {} }
  const save = async () => replaceFile(path, JSON.stringify(kept, toText))
  replaceFile(path, JSON.stringify(kept, toText))
  return { kept, save }
}

// The new file takes the place of the old one only when it is there to stay.
/** @param {string} path @param {string} text */
function replaceFile(path, text) {
  const fresh = `${path}.new`
  const file = openSync(fresh, 'w', 0o600)
  try {
    writeFileSync(file, text)     // all of it, or it throws: writeSync writes what there is room for
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(fresh, path)
}
