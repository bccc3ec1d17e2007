// Who speaks to whom: the server's hello is checked before anything is said about oneself (docs/protocol/security.md).

import { randomBytes } from './platform.mjs'
import { unpack } from './messages.mjs'
import { encode, sha256 } from './proof/encoding.mjs'
import { checkHello, fingerprint, playerSeed } from './proof/handshake.mjs'
import { sign, signingKeyOf } from './proof/keys.mjs'

const PROTOCOLS = [1]

/** @typedef {import('./line.mjs').Line} Line */
/** @typedef {import('./proof/handshake.mjs').Pin} Pin */

/** Who plays. @typedef {{ pk: Uint8Array, sign: (body: Uint8Array) => Promise<Uint8Array> }} Me */

/**
 * What the server has said about itself, once C37 holds.
 *
 * @typedef {object} Met
 * @property {Pin} pin to be stored before anything else is done
 * @property {any} info what is told in docs/protocol/messages.md
 * @property {Uint8Array} sn
 * @property {Uint8Array} frame the hash of the server's hello as it was sent
 */

/** One greeting, on one connection. */
export class Greeting {
  /** @param {Line} line */
  constructor(line) {
    this.line = line
    this.cn = randomBytes(32)
    this.hello = new Uint8Array(0)
  }

  /** @param {object} [fields] such as `want` */
  begin(fields = {}) {
    this.hello = this.line.ask('hello', { proto: PROTOCOLS, cn: this.cn, ...fields })
  }

  /**
   * C37, C39 and C40 of the server's answer; the line keeps to its limits from then on.
   *
   * @param {any} reply
   * @param {Uint8Array} payload its bytes
   * @param {{ known: Pin | { fingerprint: string } | null, revoked: Uint8Array[] }} client
   * @returns {Met}
   */
  meet(reply, payload, { known, revoked }) {
    const mine = { frame: this.hello, offered: PROTOCOLS, cert: this.line.binding }
    const { sn, pin } = checkHello({ ...mine, known, revoked, now: Date.now() / 1000 }, { rolls: [], ...reply })
    const info = unpack(reply.info)
    this.line.keepLimits(info.limits)
    return { pin, info, sn, frame: sha256(payload) }
  }

  /**
   * The fields of a login with a key: C38, as the server will check it.
   *
   * @param {Met} met
   * @param {Me} me
   */
  async prove({ pin, sn, frame }, me) {
    const body = encode(['truc/1/auth', pin.present, me.pk, this.cn, sn, frame])
    return { body, sig: await me.sign(body) }
  }
}

/**
 * What is known of a server that a link leads to: its fingerprint, unless that names the one which is pinned already.
 *
 * @param {Pin | null} pin
 * @param {string | null} named the fingerprint of the link
 * @returns {Pin | { fingerprint: string } | null}
 */
export function knownBy(pin, named) {
  // a link may be older than a rotation: it may name the first
  // key as well as the present one (security.md, "Keys")
  const isNamed = pin !== null && [pin.first, pin.present].some((key) => fingerprint(key) === named)
  return named === null || isNamed ? pin : { fingerprint: named }
}

/**
 * The player's key of its own for each server, from the master seed.
 *
 * @param {Uint8Array} master
 * @param {Pin} pin
 * @returns {Promise<Me>}
 */
export async function playerOf(master, { first }) {
  const seed = playerSeed(master, first)
  return { pk: await signingKeyOf(seed), sign: (body) => sign(seed, body) }
}
