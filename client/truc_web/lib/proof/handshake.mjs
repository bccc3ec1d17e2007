// docs/protocol/security.md: hello, login, rotations and revocations (C37 to C40), for those who go on to write a client.

import { same } from '../bytes.mjs'
import { hkdf } from '../platform.mjs'
import { H, Malformed, decode, encode, sha256 } from './encoding.mjs'
import { isAdmissible, signatureHolds } from './keys.mjs'
import { must } from './records.mjs'
import { tagged } from './shapes.mjs'

const helloShape = tagged('hello', 'spk h, sn h, frame h, proto u, cert h?, info h')
const loginShape = tagged('auth', 'spk h, pk h, cn h, sn h, frame h')
const rollShape = tagged('roll', 'old h, new h, serial u, not_before u')
const revokeShape = tagged('revoke', 'pk h')
const MOST_ROLLS = 8

/**
 * @param {Uint8Array} body
 * @param {(value: any) => any} fieldsOf
 * @param {string} check
 * @returns {any}
 */
function read(body, fieldsOf, check) {
  try {
    return fieldsOf(decode(body))
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    must(false, check, null)
  }
}

/** @param {Uint8Array | null} a @param {Uint8Array | null} b */
const isSame = (a, b) => a === null || b === null ? a === b : same(a, b)
/** @param {Uint8Array[]} keys @param {Uint8Array} key */
const isIn = (keys, key) => keys.some((one) => same(one, key))

/** Of a server's key: the first 26 characters of the base32. @param {Uint8Array} spk @returns {string} */
export function fingerprint(spk) {
  const bits = [...H('fp', spk)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  return Array.from({ length: 26 }, (_, i) => letters[parseInt(bits.slice(5 * i, 5 * i + 5), 2)]).join('')
}

/** A rotation: its body, the signature by the old key, that by the new one. @typedef {Uint8Array[]} Roll */

/**
 * C39: rotations, from `key` on.
 *
 * @param {Roll[]} rolls
 * @param {Uint8Array} key
 * @param {number} serial
 * @param {{ now: number, revoked: Uint8Array[] }} client
 */
function follow(rolls, key, serial, { now, revoked }) {
  for (const [body, sigOld, sigNew] of rolls) {
    const roll = read(body, rollShape, 'C39')
    must(![roll.old, roll.new].some((one) => isIn(revoked, one)), 'C40', null)
    const follows = same(roll.old, key) && roll.serial === serial + 1 && roll.not_before <= now
    must(follows && isAdmissible(roll.old) && isAdmissible(roll.new), 'C39', null)
    must(signatureHolds(roll.old, body, sigOld) && signatureHolds(roll.new, body, sigNew), 'C39', null)
    key = roll.new
    serial = roll.serial
  }
  return { present: key, serial }
}

/**
 * A server's key as a client remembers it.
 *
 * @typedef {{ first: Uint8Array, present: Uint8Array, serial: number }} Pin
 */

/**
 * What a client knows when the answer comes.
 *
 * @typedef {object} Knowledge
 * @property {Uint8Array} frame its own hello as it was sent
 * @property {number[]} offered protocols
 * @property {Uint8Array | null} cert the hash of the certificate that it sees
 * @property {Pin | { fingerprint: string } | null} known a pin, or the fingerprint of a link
 * @property {Uint8Array[]} revoked keys
 * @property {number} now in seconds
 */

/** @typedef {{ trust: 'first contact' | 'pinned' | 'rolled', pin: Pin }} Trust the pin is to be stored */

/**
 * What stands for the certificate on a WebSocket (C37).
 *
 * @param {string} origin as browsers send it
 * @returns {Uint8Array}
 */
export function webBinding(origin) {
  return sha256(encode(['truc/1/web', origin]))
}

/**
 * C37, C39, C40 of the server's answer to a hello.
 *
 * @param {Knowledge} client
 * @param {{ body: Uint8Array, sig: Uint8Array, info: Uint8Array, rolls: Roll[] }} answer
 * @returns {Trust & { sn: Uint8Array }}
 */
export function checkHello(client, { body, sig, info, rolls }) {
  if (rolls.length > MOST_ROLLS) throw new Malformed('more rotations than a hello holds')
  const fields = read(body, helloShape, 'C37')
  must(isAdmissible(fields.spk) && signatureHolds(fields.spk, body, sig), 'C37', null)
  const fits = same(fields.frame, sha256(client.frame)) && client.offered.includes(fields.proto) &&
    isSame(fields.cert, client.cert) && same(fields.info, sha256(info))
  must(fits, 'C37', null)
  must(!isIn(client.revoked, fields.spk), 'C40', null)
  return { sn: fields.sn, ...trust(client, fields.spk, rolls) }
}

/** @param {Knowledge} client @param {Uint8Array} spk @param {Roll[]} rolls @returns {Trust} */
function trust(client, spk, rolls) {
  const { known } = client
  // with the pinned key no rotations are looked at: the
  // list is not signed, and may be cut short (security.md)
  if (known !== null && 'present' in known && same(known.present, spk)) return { trust: 'pinned', pin: known }
  const steps = rolls.map(([body]) => read(body, rollShape, 'C39'))
  must(steps.every(({ serial }) => serial >= 1), 'C39', null)
  if (known === null || ('fingerprint' in known && known.fingerprint === fingerprint(spk))) {
    return { trust: 'first contact', pin: { first: spk, present: spk, serial: serialOf(steps, rolls, spk, client) } }
  }
  must(rolls.length > 0, 'C37', null)
  // from the pinned key on: those before it were followed when it was pinned
  const from = steps.findIndex(({ old, serial }) => 'present' in known
    ? same(old, known.present) && serial > known.serial : fingerprint(old) === known.fingerprint)
  must(from >= 0, 'present' in known ? 'C39' : 'C37', null)
  const { old, serial } = steps[from]
  const pin = { first: 'first' in known ? known.first : old, ...follow(rolls.slice(from), old, serial - 1, client) }
  must(same(pin.present, spk), 'C39', null)
  return { trust: 'rolled', pin }
}

// At first contact the rotations tell no more than the serial to pin. Nothing is trusted for the keys before: one of them
// that was revoked does no harm to the present one.
/** @param {any[]} steps @param {Roll[]} rolls @param {Uint8Array} spk @param {Knowledge} client */
function serialOf(steps, rolls, spk, client) {
  if (rolls.length === 0) return 0
  const { present, serial } = follow(rolls, steps[0].old, steps[0].serial - 1, { ...client, revoked: [] })
  must(same(present, spk), 'C39', null)
  return serial
}

/**
 * C38, C40: what a server expects of a login. Returns the player's key.
 *
 * @param {{ spk: Uint8Array, cn: Uint8Array, sn: Uint8Array, frame: Uint8Array, revoked: Uint8Array[] }} server
 * @param {{ body: Uint8Array, sig: Uint8Array }} login
 * @returns {Uint8Array}
 */
export function checkLogin(server, { body, sig }) {
  const fields = read(body, loginShape, 'C38')
  const fits = same(fields.spk, server.spk) && same(fields.cn, server.cn) && same(fields.sn, server.sn) &&
    same(fields.frame, sha256(server.frame))
  must(fits && isAdmissible(fields.pk) && signatureHolds(fields.pk, body, sig), 'C38', null)
  must(!isIn(server.revoked, fields.pk), 'C40', null)
  return fields.pk
}

/** C40: the key that is given up. @param {Uint8Array} body @param {Uint8Array} sig @returns {Uint8Array} */
export function checkRevocation(body, sig) {
  const { pk } = read(body, revokeShape, 'C40')
  must(signatureHolds(pk, body, sig), 'C40', null)
  return pk
}

/**
 * The seed of a player's key at a server, by the first key that this server was known by: one for each.
 *
 * @param {Uint8Array} master
 * @param {Uint8Array} first
 */
export const playerSeed = (master, first) => hkdf(master, new Uint8Array(0), encode(['truc/1/player', first]))

/** @param {Uint8Array} old @param {Uint8Array} next @param {number} serial @param {number} notBefore */
export const rollBody = (old, next, serial, notBefore) => encode(['truc/1/roll', old, next, serial, notBefore])
