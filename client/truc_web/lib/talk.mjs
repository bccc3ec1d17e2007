// A player with a key: the conversation with a server about one match, every record of which is checked. The seat
// (seat.mjs) checks and signs, the line (line.mjs) carries.

import { fromHex, same, toHex } from './bytes.mjs'
import { Line, Stopped } from './line.mjs'
import { unpack } from './messages.mjs'
import { randomBytes } from './platform.mjs'
import { Malformed, encode, sha256 } from './proof/encoding.mjs'
import { TRANSCRIPT, fileOf } from './proof/files.mjs'
import { checkHello, checkRevocation, fingerprint, playerSeed } from './proof/handshake.mjs'
import { sign, signingKeyOf } from './proof/keys.mjs'
import { CheckFailed, nameOf } from './proof/records.mjs'
import { Seat } from './seat.mjs'

const PROTOCOLS = [1]
const NEW_TABLE = { variant: 'truc-french', options: { match: 1 } }
const SIT = ['join', 'seek', 'create']

/**
 * What a player is given: `connect` and `store` are the platform's; the others may be left out.
 *
 * @typedef {object} Given
 * @property {(place: import('./line.mjs').Place) => import('./line.mjs').Connection} connect
 * @property {import('./seat.mjs').Store} store
 * @property {string} [name]
 * @property {string[]} [revocations] texts that give servers' keys up, which are accepted nowhere any more
 * @property {(options: import('./seat.mjs').Option[]) => import('./seat.mjs').Option} [choose] any, by default
 * @property {(text: string) => void} [tell] what to say on the way
 * @property {(transcript: Uint8Array, known: Uint8Array | null) => void} [keep] the transcript at the end, or up to the
 *   record that fails; `known` is the other history where the server has shown two
 */

/** Who plays. @typedef {{ pk: Uint8Array, sign: (body: Uint8Array) => Promise<Uint8Array> }} Me */
/** @typedef {import('./seat.mjs').Signed} Signed */

/** Plays one match: `comeBack(player)` visits the server until it has ended. */
export class Player {
  /** @param {import('./line.mjs').Place} place @param {Given} given */
  constructor(place, { connect, store, name = 'keyed', revocations = [], choose, tell = () => {}, keep = () => {} }) {
    this.host = place.host
    this.port = place.port
    this.isEncrypted = place.isEncrypted
    this.table = place.table
    this.fingerprint = place.fingerprint
    this.invite = place.invite
    this.connect = connect
    this.store = store
    this.asked = name
    this.choose = choose
    this.tell = tell
    this.keep = keep
    this.revoked = revocations.map(revokedBy)
    /** @type {import('./proof/handshake.mjs').Pin | null} */
    this.pin = null
    this.number = -1     // of the seat
    this.failures = 0
    // There from the first login on, and of the newest connection.
    this.me = /** @type {Me} */ (/** @type {unknown} */ (undefined))
    this.seat = /** @type {Seat} */ (/** @type {unknown} */ (undefined))
    this.line = /** @type {Line} */ (/** @type {unknown} */ (undefined))
    this.hello = new Uint8Array(0)
    this.cn = new Uint8Array(0)
    /** @type {object} */
    this.caps = {}
    this.isBack = false
    /** @type {Set<string>} */
    this.handed = new Set()
    /** @type {any} */
    this.shown = null     // the newest state of the table
    /** @type {any} */
    this.terms = null     // that wait for it
  }

  /**
   * One connection, from hello to its end; returns how the match has ended. `comeBack` asks for it again and again.
   *
   * @returns {Promise<string>}
   */
  async visit() {
    const line = this.line = new Line(this, this.connect)
    Object.assign(this, { cn: randomBytes(32), isBack: false, handed: new Set(), shown: null, terms: null })
    this.hello = line.ask('hello', { proto: PROTOCOLS, cn: this.cn })
    for await (const { message, payload } of line.messages()) {
      const ended = await this.check(() => this.take(message, payload))
      if (ended) return ended
    }
    throw new Error('the server hung up')
  }

  /**
   * Stop at the first check that fails.
   *
   * @param {() => Promise<string | void>} step
   * @returns {Promise<string | void>}
   */
  async check(step) {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof CheckFailed || error instanceof Malformed)) throw error
      const { message } = error
      const { check, culprit } = error instanceof CheckFailed ? error : { check: null, culprit: null }
      const blame = check === null || culprit === null ? 'nobody is shown to blame' : `to blame: ${nameOf(culprit)}`
      const why = `${check === null ? message : `${check} fails`}, ${blame}`
      await this.seat?.stop(why)
      if (this.seat?.failing) this.keep(fileBy(this.seat.failing), check === 'C33' ? fileBy(this.seat.known()) : null)
      throw new Stopped(`stopped at position ${Math.max(0, this.seat?.next ?? 0)}: ${why}`, true)
    }
  }

  /**
   * What is new, or of another table, changes nothing.
   *
   * @param {any} message
   * @param {Uint8Array} payload its bytes
   * @returns {Promise<string | void>}
   */
  async take(message, payload) {
    if (['hello', 'welcome', 'ok', 'error'].includes(message.t)) return this.takeReply(message, payload)
    if (this.table === null || message.table !== this.table) return
    switch (message.t) {
      case 'closed': throw new Stopped(`table ${this.table} is closed: ${message.reason}`)
      case 'seat_taken_over': throw new Stopped('another connection has the seat now')
      case 'table': return this.takeTable(message)
      case 'terms': return this.agree(message, this.shown)
      case 'setup': return this.begin(message)
      case 'record': return this.takeRecord(message)
      case 'options': return this.takeOptions(message)
    }
  }

  /** @param {any} reply @param {Uint8Array} payload @returns {Promise<string | void>} */
  async takeReply(reply, payload) {
    const { t, fields } = this.line.answeredBy(reply)
    if (reply.t === 'error') await this.takeError(reply, t, fields)
    else if (t === 'hello') await this.logIn(reply, payload)
    else if (t === 'login') this.enter(reply)
    else if (t !== undefined && SIT.includes(t)) this.sitDown(reply)
    else if (t === 'resume') return this.reached(reply.k)
  }

  /**
   * C37 before anything is said about oneself; then C38, as the server will check it.
   *
   * @param {any} reply
   * @param {Uint8Array} payload
   */
  async logIn(reply, payload) {
    const mine = { frame: this.hello, offered: PROTOCOLS, cert: this.line.certificate }
    const client = { ...mine, revoked: this.revoked, now: Date.now() / 1000, known: this.known() }
    const { sn, pin } = checkHello(client, { rolls: [], ...reply })
    this.pin = pin
    this.me = await this.playerOf(pin)
    this.store.kept.pins[`${this.host}:${this.port}`] = pin
    await this.store.save()
    this.seat ??= new Seat(this.store, this.me, pin.present, this.choose)
    const { limits, caps } = unpack(reply.info)
    this.line.obey(limits)
    this.caps = caps
    const body = encode(['truc/1/auth', pin.present, this.me.pk, this.cn, sn, sha256(payload)])
    const invite = this.invite && { invite: this.invite }
    this.line.ask('login', { name: this.asked, body, sig: await this.me.sign(body), ...invite })
  }

  // The fingerprint of the link, unless it names the server that is pinned already.
  known() {
    const pin = this.pin ?? this.store.kept.pins[`${this.host}:${this.port}`] ?? null
    const isNamed = pin !== null && [pin.first, pin.present].some((key) => fingerprint(key) === this.fingerprint)
    return this.fingerprint === null || isNamed ? pin : { fingerprint: this.fingerprint }
  }

  /**
   * A key of its own for each server, from the master seed.
   *
   * @param {{ first: Uint8Array }} pin
   * @returns {Promise<Me>}
   */
  async playerOf({ first }) {
    const seed = playerSeed(this.store.kept.master, first)
    return { pk: await signingKeyOf(seed), sign: (/** @type {Uint8Array} */ body) => sign(seed, body) }
  }

  /** @param {any} welcome */
  enter({ name, seats = [] }) {
    this.line.isOpen = true
    this.seat.name = name     // another than asked for, where somebody is called alike
    const held = seats.find((/** @type {any} */ { table }) => this.table === null || table === this.table)
    if (held) Object.assign(this, { table: held.table, number: held.seat, isBack: true })
    const match = held?.match ?? this.seat.mid
    if (match) this.follow(match)
    else this.findSeat()
  }

  findSeat() {
    if (this.table !== null) this.line.ask('join', { table: this.table })
    else this.line.ask('seek' in this.caps ? 'seek' : 'create', NEW_TABLE)
  }

  /** @param {any} reply */
  sitDown({ table = this.table, seat: number = this.number }) {
    Object.assign(this, { table, number })
    this.tell(`table ${table}`)
    this.line.ask('ready', { table })
  }

  /**
   * Terms are signed once they have been compared with the table, which may be shown after them.
   *
   * @param {any} terms
   * @param {any} shown
   */
  async agree(terms, shown) {
    Object.assign(this, { terms, shown })
    if (terms === null || shown === null) return
    this.terms = null
    this.hand(null, await this.seat.agree(terms, this.number, shown))
  }

  /** Terms may be dropped; then everybody has to say again that they are ready. @param {any} state */
  async takeTable(state) {
    await this.agree(this.terms, state)
    const isWaiting = ['open', 'over'].includes(state.state) && this.seat.ledger === null
    if (state.state === 'playing' && this.isBack && this.seat.ledger === null) this.follow(state.match)
    else if (isWaiting && state.seats[this.number]?.ready === false && !this.line.isAsking('ready')) {
      this.line.ask('ready', { table: this.table })
    }
  }

  /** @param {{ match: Uint8Array }} message */
  isOf({ match }) {
    return this.seat.mid !== null && this.seat.ledger !== null && same(this.seat.mid, match)
  }

  /** @param {any} setup */
  async begin(setup) {
    if (this.isOf(setup)) return
    await this.seat.begin(setup, this.shown)
    this.tell(`level ${this.seat.match.setup.level}`)
  }

  /** Have the records sent that are missing, or all of them and the setup. @param {Uint8Array} match */
  follow(match) {
    const next = this.isOf({ match }) ? this.seat.next : -1
    if (!this.line.isAsking('resume')) this.line.ask('resume', { table: this.table, match, next })
  }

  /** @param {number} k */
  reached(k) {
    this.seat.reached(k)
    return this.handDue()
  }

  /** @param {any} record @returns {Promise<string | void>} */
  async takeRecord(record) {
    if (!this.isOf(record) || record.k > this.seat.next) return this.follow(record.match)
    const isNew = record.k === this.seat.next
    await this.seat.take(record)
    if (!isNew) return
    this.failures = 0
    return this.seat.isDone ? this.end() : this.handDue()
  }

  end() {
    this.keep(fileBy(this.seat.known()), null)
    const { reason, winner } = /** @type {{ reason: string, winner: number | null }} */ (this.seat.match.ledger.result)
    return winner === null ? reason : `${reason} by side ${winner}`
  }

  // Once on a connection; and while old records are sent again nothing is signed.
  async handDue() {
    if (this.line.isAsking('resume')) return
    if (this.seat.isDone) return this.end()
    const due = await this.seat.due()
    if (due === null || this.handed.has(toHex(due.sig))) return
    this.handed.add(toHex(due.sig))
    this.hand(this.seat.mid, due)
  }

  /** @param {Uint8Array | null} match @param {Signed} act */
  hand(match, { body, sig }) {
    this.line.ask('act', { table: this.table, ...(match && { match }), body, sig })
  }

  /** @param {any} options */
  async takeOptions(options) {
    if (!this.isOf(options) || options.at > this.seat.next) return this.follow(options.match)
    if (options.at === this.seat.next) this.handChoice(await this.seat.act(options))
  }

  /** @param {Signed | null} act */
  handChoice(act) {
    if (act !== null) this.hand(this.seat.mid, act)
  }

  /**
   * An act that came too late does not matter: options come again. What is refused by signature is judged.
   *
   * @param {any} error
   * @param {string} [t] what was asked for
   * @param {any} [fields]
   * @param {Line} [line]
   */
  async takeError(error, t, fields, line = this.line) {
    if (t === 'act' && error.refuse && this.seat.ledger !== null) {
      await this.seat.refused(error.refuse, fields)
    } else if (error.retry_after_ms) {
      setTimeout(() => line === this.line && t !== undefined && line.ask(t, fields), error.retry_after_ms)
    } else if (t === 'resume' && error.code === 'no_such_match') {
      this.findSeat()
    } else if ([...SIT, 'resume'].includes(t ?? '') || error.code === 'seat_gone') {
      throw new Stopped(error.msg)
    } else if (error.code === 'bad_position') {
      throw new Error(error.msg)     // from the last position on, anew
    }
  }
}

/**
 * The key that a revocation gives up, a line of hex for its body and one for its signature below the first.
 *
 * @param {string} text
 */
function revokedBy(text) {
  const [, body, sig] = text.split('\n')
  return checkRevocation(fromHex(body), fromHex(sig))
}

/** @param {{ doc: Uint8Array, raws: import('./proof/records.mjs').Raw[] }} known */
const fileBy = ({ doc, raws }) =>
  fileOf(TRANSCRIPT, [doc, ...raws.map(({ signer, body, sig }) => encode([signer, body, sig]))])
