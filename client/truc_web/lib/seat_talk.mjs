// The conversation about one seat with a key, at one table: its terms, its records, what is on offer, and what it owes
// without being asked. The seat (seat.mjs) checks and signs; who connects, and who chooses, is not here.

import { Stopped } from './line.mjs'
import { same, toHex } from './bytes.mjs'
import { verify } from './proof/audit.mjs'
import { Malformed, encode } from './proof/encoding.mjs'
import { TRANSCRIPT, fileOf } from './proof/files.mjs'
import { CheckFailed, nameOf } from './proof/records.mjs'

/** @typedef {import('./line.mjs').Line} Line */
/** @typedef {import('./seat.mjs').Seat} Seat */
/** @typedef {import('./seat.mjs').Signed} Signed */
/** @typedef {import('./seat.mjs').Option} Option */

/**
 * Why nothing is signed any more, and what is left to show for it.
 *
 * @typedef {object} Failure
 * @property {string | null} check
 * @property {number | null} culprit the role of who is to blame, null if nobody is shown to be
 * @property {number} k the position
 * @property {string} why
 * @property {Uint8Array | null} file the transcript up to the record that fails
 * @property {Uint8Array | null} known the other history, where the server has shown two
 */

const SECOND_LINK = 'C15'     // a release asked for again under another head: this seat alone has seen who asks
const MOST_DOUBTS = 3

/** @param {Failure} failure */
const isBinding = ({ culprit, check }) => culprit !== null || check === SECOND_LINK

/**
 * What fails and binds nobody may be the line's doing: then everything is asked for anew, up to the third failure in one
 * place (specification.md, 13).
 */
export class Doubts {
  at = -1
  count = 0

  /** @param {Failure} failure */
  mayPass(failure) {
    if (isBinding(failure)) return false
    this.count = this.at === failure.k ? this.count + 1 : 1
    this.at = failure.k
    return this.count < MOST_DOUBTS
  }
}

/** One seat; give each connection to `meet`, and every message of the table to `take`. */
export class SeatTalk {
  /** @param {string} table @param {number} number of the seat @param {Seat} seat */
  constructor(table, number, seat) {
    this.table = table
    this.number = number
    this.seat = seat
    this.isBack = false
    this.findsOptions = false
    // There from the first connection on.
    this.line = /** @type {Line} */ (/** @type {unknown} */ (undefined))
    /** @type {Set<string>} */
    this.sentDue = new Set()
    /** @type {any} */
    this.shown = null     // the newest state of the table before the seat was ready
    /** @type {any} */
    this.terms = null     // that wait for it
    /** @type {number | null} */
    this.told = null     // up to where the server has sent everything
  }

  /**
   * @param {Line} line
   * @param {boolean} isBack whether the seat was there before the connection
   * @param {boolean} findsOptions whether over this one the seat is sent none
   */
  meet(line, isBack, findsOptions) {
    Object.assign(this, { line, isBack, findsOptions, sentDue: new Set(), shown: null, terms: null, told: null })
  }

  /** @param {string} t @param {object} [fields] */
  ask(t, fields) {
    return this.line.ask(t, { table: this.table, ...fields })
  }

  get isDone() {
    return this.seat.isDone
  }

  /** How the match has ended. */
  get result() {
    return /** @type {{ reason: string, winner: number | null }} */ (this.seat.match.ledger.result)
  }

  /**
   * What is new, or of another table, changes nothing.
   *
   * @param {any} message
   */
  async take(message) {
    switch (message.t) {
      case 'table': return this.takeTable(message)
      case 'terms': return this.agree(message, this.shown)
      case 'setup': return this.begin(message)
      case 'record': return this.takeRecord(message)
      case 'options': return this.findsOptions || this.seat.dealing !== null ? undefined : this.takeOptions(message)
      case 'waiting': return this.takeWaiting(message)
    }
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
    this.sendAct(null, await this.seat.agree(terms, this.number, shown))
  }

  /** @param {any} state */
  async takeTable(state) {
    // what is shown once the seat is ready is not what it agreed to
    await this.agree(this.terms, state.seats[this.number]?.ready ? this.shown ?? state : state)
    if (state.state === 'playing' && this.isBack && this.seat.ledger === null) this.follow(state.match)
  }

  /** @param {{ match: Uint8Array }} message */
  isOf({ match }) {
    return this.seat.mid !== null && this.seat.ledger !== null && same(this.seat.mid, match)
  }

  /** @param {any} setup */
  async begin(setup) {
    if (!this.isOf(setup)) await this.seat.begin(setup, this.shown)
  }

  /** Have the records sent that are missing, or all of them and the setup. @param {Uint8Array} match */
  follow(match) {
    const next = this.isOf({ match }) ? this.seat.next : -1
    if (next === this.told) throw new CheckFailed('C10', null)     // there are no more
    // once is enough, however many records show that some are missing
    if (!this.line.isAsking('resume')) this.ask('resume', { match, next })
  }

  /** The server has sent everything, up to k. @param {number} k */
  reached(k) {
    this.seat.reached(k)
    this.told = this.seat.next
    return this.sendDue()
  }

  /** @param {any} record */
  async takeRecord(record) {
    if (!this.isOf(record) || record.k > this.seat.next) return this.follow(record.match)
    const isNew = record.k === this.seat.next
    await this.seat.take(record)
    if (isNew && !this.isDone) return this.sendDue()
  }

  // Once on a connection; and while old records are sent again nothing is signed.
  async sendDue() {
    if (this.line.isAsking('resume') || this.isDone) return
    const due = await this.seat.due()
    if (due === null || this.sentDue.has(toHex(due.sig))) return
    this.sentDue.add(toHex(due.sig))
    this.sendAct(this.seat.mid, due)
  }

  /** @param {Uint8Array | null} match @param {Signed} act */
  sendAct(match, { body, sig }) {
    this.ask('act', { ...(match && { match }), body, sig })
  }

  /** What is on offer then stands in the seat. @param {any} options */
  async takeOptions(options) {
    if (!this.isOf(options) || options.at > this.seat.next) return this.follow(options.match)
    if (options.at === this.seat.next) await this.seat.offer(options)
  }

  /** Where a seat finds its options by itself, they stand in it then. @param {any} waiting */
  async takeWaiting(waiting) {
    const { what = 'decision', at, match } = waiting
    if (what !== 'decision' || !(this.findsOptions || this.seat.dealing !== null)) return
    if (!this.isOf(waiting) || at > this.seat.next) return this.follow(match)
    if (at === this.seat.next) this.seat.findOptions(waiting)
  }

  /** Sign one of the options on offer, and send it. @param {(options: Option[]) => Option | Promise<Option>} [pick] */
  async choose(pick) {
    const act = await this.seat.choose(pick)
    if (act !== null) this.sendAct(this.seat.mid, act)
  }

  /** @param {'pause' | 'resume' | 'resign'} kind */
  async interrupt(kind) {
    const act = await this.seat.interrupt(kind)
    if (act !== null) this.sendAct(this.seat.mid, act)
  }

  /**
   * What the server said to a request of this table; false where that is for others to judge. What is refused by
   * signature is judged here; what came too late does not matter, since options come again.
   *
   * @param {any} error
   * @param {string} t what was asked for
   * @param {any} fields
   */
  async takeError(error, t, fields) {
    if (t !== 'act' || !error.refuse || this.seat.ledger === null) return false
    await this.seat.refused(error.refuse, fields, this.findsOptions)
    return true
  }

  /**
   * A check has failed: nothing is signed in this match any more; never again, if somebody is shown to blame.
   *
   * @param {unknown} error any other error is thrown on
   * @returns {Promise<Failure>}
   */
  async fail(error) {
    const failure = await this.failureBy(error)
    if (isBinding(failure)) await this.seat.stop(failure.why)
    return failure
  }

  /** @param {unknown} error @returns {Promise<Failure>} */
  async failureBy(error) {
    const failure = failureOf(error, this.seat.next)
    if (this.seat.failing) failure.file = fileBy(this.seat.failing)
    // two histories convict only side by side
    if (!['C33', 'C36'].includes(failure.check ?? '') || failure.file === null || this.seat.ledger === null) return failure
    failure.known = this.transcript()
    return { ...failure, ...await shownBy(failure.file, failure.known) ?? {} }
  }

  /** The transcript so far. */
  transcript() {
    return fileBy(this.seat.known())
  }
}

/**
 * What a failed check says, without any file.
 *
 * @param {unknown} error any other error is thrown on
 * @param {number} next
 * @returns {Failure}
 */
export function failureOf(error, next) {
  if (!(error instanceof CheckFailed || error instanceof Malformed)) throw error
  const { check, culprit } = error instanceof CheckFailed ? error : { check: null, culprit: null }
  const why = check === null ? `${error.message}, nobody is shown to blame` : whyOf(check, culprit)
  return { check, culprit, k: Math.max(0, next), why, file: null, known: null }
}

/**
 * Whom two histories convict: whoever has signed both of what may be signed once (C33, C34, C36); null if they show nobody.
 *
 * @param {Uint8Array} first
 * @param {Uint8Array} second
 */
async function shownBy(first, second) {
  const { compare } = await import('./proof/evidence.mjs')
  const [found] = compare(await verify(first), await verify(second), [])
  return found === undefined ? null : { ...found, why: whyOf(found.check, found.culprit) }
}

/** @param {string} check @param {number | null} culprit */
const whyOf = (check, culprit) => `${check} fails, ${culprit === null ? 'nobody is shown to blame' : `to blame: ${nameOf(culprit)}`}`

/** As a transcript. @param {{ doc: Uint8Array, raws: import('./proof/records.mjs').Raw[] }} known */
export const fileBy = ({ doc, raws }) =>
  fileOf(TRANSCRIPT, [doc, ...raws.map(({ signer, body, sig }) => encode([signer, body, sig]))])

/** @param {Failure} failure */
export const stoppedBy = ({ k, why }) => new Stopped(`stopped at position ${k}: ${why}`, true)
