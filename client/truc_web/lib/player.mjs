// A player with a key that plays one match by itself, every record of which is checked: it connects, logs in, finds a
// seat, and comes back until the match is over. What is said about the seat is in seat_talk.mjs.

import { fromHex } from './bytes.mjs'
import { Line, Stopped, pauseAsked } from './line.mjs'
import { Greeting, knownBy, playerOf } from './login.mjs'
import { checkRevocation } from './proof/handshake.mjs'
import { Malformed } from './proof/encoding.mjs'
import { CheckFailed } from './proof/records.mjs'
import { Seat } from './seat.mjs'
import { Doubts, SeatTalk, failureOf, stoppedBy } from './seat_talk.mjs'

const NEW_TABLE = { variant: 'truc-french', options: { match: 1 } }
const SIT = ['join', 'seek', 'create']
/** What a client asks for that runs the rules, and deals where the host sees no card. */
export const WANT = ['own-options', 'blind']

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

/** @typedef {import('./login.mjs').Me} Me */

/** Plays one match: `comeBack(player)` visits the server until it has ended. */
export class Player {
  /** @param {import('./line.mjs').Place} place @param {Given} given */
  constructor(place, { connect, store, name = 'keyed', revocations = [], choose, tell = () => {}, keep = () => {} }) {
    this.host = place.host
    this.port = place.port
    this.place = place
    this.table = place.table
    this.connect = connect
    this.store = store
    this.asked = name
    this.pick = choose
    this.tell = tell
    this.keep = keep
    this.revoked = revocations.map(revokedBy)
    /** @type {import('./proof/handshake.mjs').Pin | null} */
    this.pin = null
    this.failures = 0
    /** @type {Seat | null} */
    this.seat = null
    /** @type {SeatTalk | null} */
    this.talk = null
    // There from the first login on, and of the newest connection.
    this.line = /** @type {Line} */ (/** @type {unknown} */ (undefined))
    this.greeting = /** @type {Greeting} */ (/** @type {unknown} */ (undefined))
    /** @type {object} */
    this.caps = {}
    this.isSeated = false     // on this connection
    this.doubts = new Doubts()
  }

  /**
   * One connection, from hello to its end; returns how the match has ended. `comeBack` asks for it again and again.
   *
   * @returns {Promise<string>}
   */
  async visit() {
    const { host, port, place: { isEncrypted } } = this
    const line = this.line = new Line(this.connect({ ...this.place, host, port, isEncrypted }))
    this.greeting = new Greeting(line)
    this.isSeated = false
    this.greeting.begin({ want: WANT })
    for await (const { message, payload } of line.messages()) {
      await this.check(() => this.take(message, payload))
      if (this.talk?.isDone) return this.end(this.talk)
    }
    throw new Error('the server hung up')
  }

  /** Stop at a check that fails, but not at once where nobody is shown to blame. @param {() => Promise<void>} step */
  async check(step) {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof CheckFailed || error instanceof Malformed)) throw error
      const failure = await (this.talk?.fail(error) ?? failureOf(error, 0))
      if (failure.file !== null) this.keep(failure.file, failure.known)
      // what a server's hello fails by, before there is a seat, is not the line's doing
      if (this.talk === null || !this.doubts.mayPass(failure)) throw stoppedBy(failure)
      this.seat = this.talk = null
      this.line.connection.close()
      throw new Error(failure.why)
    }
  }

  /** @param {any} message @param {Uint8Array} payload its bytes */
  async take(message, payload) {
    if (['hello', 'welcome', 'ok', 'error'].includes(message.t)) return this.takeReply(message, payload)
    if (!this.isSeated || message.table !== this.table) return
    if (message.t === 'closed') throw new Stopped(`table ${this.table} is closed: ${message.reason}`)
    if (message.t === 'seat_taken_over') throw new Stopped('another connection has the seat now')
    await this.takeNotice(/** @type {SeatTalk} */ (this.talk), message)
  }

  /** @param {SeatTalk} talk @param {any} message */
  async takeNotice(talk, message) {
    const { seat } = talk
    const isBegun = seat.ledger !== null
    const { next, offered: before } = seat
    await talk.take(message)
    if (seat.next > next) this.failures = 0
    if (!isBegun && seat.ledger !== null) this.tell(`level ${seat.match.setup.level}`)
    const isMust = message.must ?? message.seats?.includes(seat.own?.seat)
    const isOnOffer = seat.offered !== before && seat.offered.at === seat.next && seat.offered.options.length > 0
    if (isOnOffer && (isMust || seat.isAwaited)) await talk.choose(this.pick)
    if (message.t === 'table') this.sayReady(talk, message)
  }

  /** Terms may be dropped; then everybody has to say again that they are ready. @param {SeatTalk} talk @param {any} state */
  sayReady({ seat, number }, state) {
    const isWaiting = ['open', 'over'].includes(state.state) && seat.ledger === null
    if (isWaiting && state.seats[number]?.ready === false && !this.line.isAsking('ready')) {
      this.line.ask('ready', { table: this.table })
    }
  }

  /** @param {any} reply @param {Uint8Array} payload @returns {Promise<void>} */
  async takeReply(reply, payload) {
    const { t, fields } = this.line.answeredBy(reply)
    if (reply.t === 'error') await this.takeError(reply, t, fields)
    else if (t === 'hello') await this.logIn(reply, payload)
    else if (t === 'login') this.enter(reply)
    else if (t !== undefined && SIT.includes(t)) this.sitDown(reply)
    else if (t === 'resume') await this.talk?.reached(reply.k)
  }

  /** @param {any} reply @param {Uint8Array} payload */
  async logIn(reply, payload) {
    const { store: { kept }, host, port } = this
    const known = knownBy(this.pin ?? kept.pins[`${host}:${port}`] ?? null, this.place.fingerprint)
    const met = this.greeting.meet(reply, payload, { known, revoked: this.revoked })
    // also where it was sent on to: the same server must answer there (session.md, "Goodbye")
    this.pin = kept.pins[`${host}:${port}`] = met.pin
    this.caps = met.info.caps
    const me = await playerOf(kept.master, met.pin)
    // before the login, whose key is derived from the pin (keyed-client.md, 7)
    await this.store.save()
    this.seat ??= new Seat(this.store, me, met.pin.present)
    const { invite } = this.place
    this.line.ask('login', { name: this.asked, ...await this.greeting.prove(met, me), ...(invite && { invite }) })
  }

  /** @param {any} welcome */
  enter({ name, seats = [] }) {
    this.line.open()
    const seat = /** @type {Seat} */ (this.seat)
    seat.name = name     // another than asked for, where somebody is called alike
    const held = seats.find((/** @type {any} */ { table }) => this.table === null || table === this.table)
    if (held) this.haveSeat(held.table, held.seat, true)
    const match = held?.match ?? seat.mid
    if (match && this.talk !== null) {
      if (!held) this.haveSeat(this.talk.table, this.talk.number, false)
      this.talk.follow(match)
    } else {
      this.findSeat()
    }
  }

  /** @param {string} table @param {number} number @param {boolean} isBack */
  haveSeat(table, number, isBack) {
    this.table = table
    this.isSeated = true
    this.talk ??= new SeatTalk(table, number, /** @type {Seat} */ (this.seat))
    this.talk.number = number
    this.talk.meet(this.line, isBack, 'own-options' in this.caps)
  }

  findSeat() {
    if (this.table !== null) this.line.ask('join', { table: this.table })
    else this.line.ask('seek' in this.caps ? 'seek' : 'create', NEW_TABLE)
  }

  /** @param {any} reply */
  sitDown({ table = this.table, seat }) {
    this.haveSeat(table, seat, this.talk?.isBack ?? false)
    this.tell(`table ${table}`)
    this.line.ask('ready', { table })
  }

  /** @param {SeatTalk} talk */
  end(talk) {
    this.keep(talk.transcript(), null)
    const { reason, winner } = talk.result
    return winner === null ? reason : `${reason} by side ${winner}`
  }

  /**
   * @param {any} error
   * @param {string} [t] what was asked for
   * @param {any} [fields]
   * @param {Line} [line]
   */
  async takeError(error, t = '', fields = {}, line = this.line) {
    if (await this.talk?.takeError(error, t, fields)) return
    if (error.retry_after_ms) {
      setTimeout(() => line === this.line && t !== '' && line.ask(t, fields), pauseAsked(error.retry_after_ms))
    } else if (t === 'resume' && error.code === 'no_such_match') {
      this.findSeat()
    } else if ([...SIT, 'resume'].includes(t) || error.code === 'seat_gone') {
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
