// One table that is attended: from a seat with a key, as a guest, or without a seat. Each message is told to the page
// as it comes, and then checked; what the check says follows.

import { toHex } from '../../lib/bytes.mjs'
import { Follower } from '../../lib/follower.mjs'
import { hostSawNoCard } from '../../lib/proof/audit.mjs'
import { Stopped } from '../../lib/line.mjs'
import { somewhere } from '../../lib/own_options.mjs'
import { Seat } from '../../lib/seat.mjs'
import { Doubts, SeatTalk, failureOf, fileBy } from '../../lib/seat_talk.mjs'
import { nameIn, plain, readableName, rulesOf } from './plain.mjs'
import { worthOf } from './worth.mjs'

/** @typedef {import('../../lib/proof/ledger.mjs').Ledger} Ledger */
/** @typedef {import('../../lib/seat_talk.mjs').Failure} Failure */
/** @typedef {import('../../lib/login.mjs').Me} Me */
/** @typedef {import('../../lib/line.mjs').Line} Line */

/**
 * What it works with.
 *
 * @typedef {object} Means
 * @property {(event: any) => void} tell to the page
 * @property {import('./vault.mjs').Vault | null} vault where there is one
 * @property {() => { me: Me | null, spk: Uint8Array, name: string, line: Line, findsOptions: boolean }} now of the newest connection
 */

const UNSOUND = 'unsound'     // what has failed, where no check has a number for it

export class AttendedTable {
  /** @param {Means} means @param {string} table @param {number | null} number of the seat, null without one */
  constructor(means, table, number) {
    this.means = means
    this.table = table
    this.number = number
    this.line = means.now().line     // that the seat was met over: while the next one is greeted, what is sent over this one is lost
    this.isAskingAnew = false     // until the next connection
    this.doubts = new Doubts()
    this.talk = this.freshTalk()
    this.follower = this.freshFollower()
    /** @type {any} */
    this.shown = null
    this.wantsReady = false
    /** @type {Failure | null} */
    this.failure = null
    this.isKept = false
    this.handsProved = 0
    /** @type {[k: number, means: any[]][]} */
    this.story = []     // of the match: what its records mean, to show it again
    /** @type {{ at: number, key: string, line: Line } | null} */
    this.chosen = null     // the newest choice, and the connection that it went over
    /** @type {Promise<unknown>} */
    this.last = Promise.resolve()
  }

  /**
   * One step after the other, those that the player wishes among those that the server's messages bring: two at the same
   * time could sign two acts for one position.
   *
   * @template T
   * @param {() => Promise<T>} step
   * @returns {Promise<T>}
   */
  inTurn(step) {
    const done = this.last.then(step)
    this.last = done.catch(() => {})
    return done
  }

  /** Nothing is done here for the player: a check has failed for good, or everything is asked for anew. */
  get isResting() {
    return this.failure !== null || this.isAskingAnew
  }

  freshTalk() {
    return this.means.now().me === null || this.number === null ? null : new SeatTalk(this.table, this.number, this.freshSeat())
  }

  freshFollower() {
    return new Follower(this.means.now().spk)
  }

  freshSeat() {
    const { me, spk, name } = this.means.now()
    const seat = new Seat(/** @type {any} */ (this.means.vault), /** @type {Me} */ (me), spk)
    seat.name = name
    return seat
  }

  /** A new connection. @param {boolean} isBack whether the server has named the seat @param {Uint8Array} [match] */
  meet(isBack, match) {
    const { line, findsOptions } = this.means.now()
    this.line = line
    this.isAskingAnew = false
    this.talk?.meet(line, isBack, findsOptions)
    if (match !== undefined) this.follow(match)
    else if (this.number !== null && isBack) line.ask('join', { table: this.table })
    else if (this.number === null) this.watch()
  }

  /** @param {Uint8Array} match */
  follow(match) {
    const { line } = this.means.now()
    if (this.talk !== null) return this.talk.follow(match)
    if (line.isAsking('resume')) return
    const isSame = this.follower.mid !== null && toHex(this.follower.mid) === toHex(match)
    line.ask('resume', { table: this.table, match, next: isSame ? this.follower.next : -1 })
  }

  watch() {
    const { mid, next } = this.follower
    this.means.now().line.ask('watch', { table: this.table, ...(mid && next >= 0 && { match: mid, next }) })
  }

  /** @param {any} message */
  take(message) {
    return this.inTurn(() => this.takeNow(message))
  }

  /** @param {any} message */
  async takeNow(message) {
    if (this.isAskingAnew) return
    const isSealed = message.box !== undefined
    // told before it is checked, so that the picture waits for
    // nothing; after a failed check nothing is signed (decision 22)
    if (message.t === 'cards') await this.tellCards(plain(message))
    else if (!isSealed) this.tell(this.shownOf(message))
    if (message.t === 'table') this.takeTable(message)
    if (message.t === 'record' && message.k === this.story.length) this.story.push([message.k, plain(message).means])
    if (this.failure !== null) return
    await this.checked(() => this.talk === null ? this.check(message) : this.checkOwn(this.talk, message), message.match)
  }

  /** @param {any} message */
  tell(message) {
    this.means.tell({ what: 'told', message })
  }

  /** As the page is told it: what was there before comes before the answer to whoever has asked for it. @param {any} message */
  shownOf(message) {
    const { line } = this.means.now()
    const isPast = ['setup', 'record'].includes(message.t) && (line.isAsking('resume') || line.isAsking('watch'))
    return { ...plain(message), ...(isPast && { isPast }) }
  }

  /** Cards that this seat has been shown, with what its own are worth. @param {any} message */
  async tellCards(message) {
    const { setup, ledger } = this.talk?.seat ?? this.follower
    const doc = setup?.document
    const up = ledger?.hand?.deals[0]?.up ?? []
    const isOwn = message.of === undefined || message.of === this.number
    this.tell({ ...message, worth: isOwn && doc !== undefined ? await worthOf(doc, up, message.cards) : null })
  }

  /** Ready is said again where terms were dropped. @param {any} state */
  takeTable(state) {
    this.shown = state
    const { line } = this.means.now()
    const isWaiting = this.number !== null && ['open', 'over'].includes(state.state)
    if (isWaiting && this.wantsReady && state.seats[/** @type {number} */ (this.number)]?.ready === false && !line.isAsking('ready')) {
      line.ask('ready', { table: this.table })
    }
  }

  /**
   * A failed check ends the match here, with what is left to show for it; or the connection, where everything is asked for
   * anew.
   *
   * @param {() => Promise<void>} step
   * @param {Uint8Array} [match] that the step is about
   */
  async checked(step, match) {
    try {
      await step()
    } catch (error) {
      let kind = UNSOUND
      let evidence
      if (error instanceof Stopped) {
        kind = error.isFailure ? 'stopped_before' : 'elsewhere'
        const kept = match === undefined ? null : await this.keptFailure(toHex(match))
        const check = kept?.failed === UNSOUND ? null : kept?.failed ?? null
        this.failure = { check, culprit: null, k: 0, why: error.message, file: null, known: null }
        evidence = kept?.match ?? null
      } else {
        const failure = await (this.talk?.fail(error) ?? this.failed(error))
        if (this.doubts.mayPass(failure)) return this.askAnew()
        this.failure = failure
        evidence = await this.keep(this.failure.file, this.failure)
      }
      const { check, culprit, k, why } = this.failure
      this.means.tell({ what: 'failed', table: this.table, check, kind, culprit, k, why, evidence })
    }
  }

  askAnew() {
    Object.assign(this, { talk: this.freshTalk(), follower: this.freshFollower(), isAskingAnew: true })
    this.means.now().line.connection.close()
  }

  /** The match, where a check that has failed in it before has left something to show. @param {string} match */
  async keptFailure(match) {
    const kept = await this.means.vault?.match(match) ?? null
    return kept === null || kept.failed === null ? null : kept
  }

  /** @param {unknown} error @returns {Failure} */
  failed(error) {
    const failure = failureOf(error, this.follower.next)
    return { ...failure, file: this.follower.failing && fileBy(this.follower.failing) }
  }

  /** Without a key. @param {any} message */
  async check(message) {
    const { follower, chosen } = this
    const { line } = this.means.now()
    // what was chosen over a connection that is lost goes over the next one
    if (message.t === 'options' && chosen !== null && chosen.at === message.at && chosen.line !== line) await this.chooseNow(chosen.at, chosen.key)
    if (message.t === 'setup') {
      this.begun()
      await follower.begin(message)
    } else if (message.t === 'record') {
      const isHere = follower.mid !== null && toHex(follower.mid) === toHex(message.match) && message.k <= follower.next
      if (!isHere) return this.number === null ? this.watch() : this.follow(message.match)
      await follower.take(message)
      await this.passed(/** @type {Ledger} */ (follower.ledger), message)
    }
  }

  /** @param {SeatTalk} talk @param {any} message */
  async checkOwn(talk, message) {
    if (message.t === 'terms' && talk.isDone) talk.seat = this.freshSeat()
    if (message.t === 'setup') this.begun()
    const { seat } = talk
    const { next: before, offered } = seat
    await talk.take(message)
    if (message.t === 'record' && seat.next > before && before >= 0) {
      const { table, k } = message
      if (seat.opened !== null) await this.tellCards({ t: 'cards', table, match: toHex(message.match), k, ...seat.opened })
      await this.passed(seat.match.ledger, message)
    } else if (seat.offered !== offered) {
      await this.tellOptions(talk, message)
    } else if (message.t === 'sign' && message.box !== undefined) {
      this.tell({ ...plain(message), word: await seat.openSign(message) })
    }
  }

  /** What may be done now, as the server offers it or as the seat has found it out. @param {SeatTalk} talk @param {any} message */
  async tellOptions(talk, message) {
    const { at, options } = talk.seat.offered
    const list = options.map(([kind, , key, hints]) => ({ kind, key, hints: Object.fromEntries(hints) }))
    const { table, match, must = message.seats.includes(this.number), deadline_ms: left } = plain(message)
    this.tell({ t: 'options', table, match, at, must, list, ...(left !== undefined && { deadline_ms: left }) })
    const { line } = this.means.now()
    // once on each connection: one that is lost may have taken the choice along
    if (!talk.seat.hasChosen || this.chosen?.line === line) return
    this.chosen = { at, key: '', line }
    await talk.choose()     // the bytes that were signed before
  }

  begun() {
    this.isKept = false
    this.story = []
    this.handsProved = 0
  }

  /** A record has passed every check. @param {Ledger} ledger @param {any} record */
  async passed(ledger, { k }) {
    const { table } = this
    this.means.tell({ what: 'checked', table, k, phase: ledger.phase, isUnseenByHost: hostSawNoCard(ledger) })
    const kind = ledger.records[k]?.kind
    const proved = ledger.hands.filter(({ dealt }) => dealt !== undefined)
    if (proved.length > this.handsProved) {
      this.handsProved = proved.length
      const { j, links, deals } = /** @type {import('../../lib/proof/ledger.mjs').Hand} */ (proved.at(-1))
      const cards = deals.reduce((sum, { leaves }) => sum + leaves.flat().length, 0)
      const isSigned = ledger.seats.every(({ pk }) => pk !== null)
      this.means.tell({ what: 'proved', table, j, hands: proved.length, secrets: links.size, cards, isSigned })
    }
    if (kind === 'close' || (kind === 'end' || kind === 'ack') && !this.isKept) {
      // at each close too: a page may be closed at any time
      this.isKept = ledger.phase === 'ended'
      await this.keep(this.talk?.transcript() ?? fileBy(this.follower.known()), null)
    }
  }

  /**
   * Returns the match, in hex, where there was something to keep and a place for it.
   *
   * @param {Uint8Array | null} file
   * @param {Failure | null} failure
   * @returns {Promise<string | null>}
   */
  async keep(file, failure) {
    const setup = this.talk?.seat.setup ?? this.follower.setup
    if (this.means.vault === null || file === null || !setup?.mid) return null
    const ledger = this.talk?.seat.ledger ?? this.follower.ledger
    const seated = this.shown?.state === 'playing' ? this.shown.seats : []
    const names = setup.records.slice(1, -1).map(({ body }, seat) => seated[seat]?.name ? readableName(seated[seat].name) : nameIn(body))
    const match = toHex(setup.mid)
    const rules = rulesOf(setup.document)
    const winner = ledger?.result?.winner ?? null
    const kept = { match, variant: rules.variant, names, seat: this.number, rules, story: this.story, ended: Date.now(), winner, isOver: ledger?.phase === 'ended' }
    await this.means.vault.keep({ ...kept, failed: failure === null ? null : failure.check ?? UNSOUND, file, known: failure?.known ?? null })
    this.means.tell({ what: 'kept', table: this.table, match, isOver: kept.isOver })
    return match
  }

  /** The server has sent everything that was asked for, up to k. @param {number} k */
  async reached(k) {
    await this.inTurn(async () => {
      if (this.talk !== null && !this.isResting) await this.checked(async () => this.talk?.reached(k))
    })
  }

  /** The server has refused an act. @param {any} error @param {any} fields */
  async refused(error, fields) {
    await this.inTurn(() => this.checked(async () => { await this.talk?.takeError(error, 'act', fields) }))
  }

  /**
   * Play one of the options that were offered for a position. Returns what to say where that is not possible any more.
   *
   * @param {number} at
   * @param {string} key
   * @returns {Promise<string | null>}
   */
  choose(at, key) {
    return this.inTurn(() => this.chooseNow(at, key))
  }

  /** @param {number} at @param {string} key @returns {Promise<string | null>} */
  async chooseNow(at, key) {
    const { talk } = this
    if (this.isResting) return 'stale_position'
    this.chosen = { at, key, line: this.line }
    const match = this.talk?.seat.mid ?? this.follower.mid
    if (talk === null) {
      this.line.ask('act', { table: this.table, match, at, choose: key })
      return null
    }
    const { offered, next } = talk.seat
    const option = offered.options.find(([, , line]) => line === key)
    if (offered.at !== at || at !== next || option === undefined) return 'stale_position'
    await this.checked(() => talk.choose(() => option[0] === 'cut' ? cutAnywhere(option, talk.seat.pack.length) : option))
    return null
  }

  /** @param {'pause' | 'resume' | 'resign'} kind */
  async interrupt(kind) {
    const { talk, follower } = this
    if (this.isResting) return
    if (talk !== null) return this.inTurn(() => this.checked(() => talk.interrupt(kind)))
    this.means.now().line.ask('act', { table: this.table, match: follower.mid, at: follower.next, choose: kind })
  }

  /** A word to those who may see it, `to` a partner among them. @param {string} word @param {number} to */
  async sign(word, to) {
    const { line } = this.means.now()
    const { table, talk, follower } = this
    if (this.isAskingAnew) return
    if (talk === null) line.ask('sign', { table, match: follower.mid, at: follower.next, word })
    else await this.inTurn(async () => line.ask('sign', { table, match: talk.seat.mid, ...await talk.seat.sealSign(word, to) }))
  }
}

// Where the pack is cut is the player's own choice, not the server's.
/** @param {import('../../lib/seat.mjs').Option} option @param {number} cards @returns {import('../../lib/seat.mjs').Option} */
const cutAnywhere = ([kind, , line, hints], cards) => [kind, [somewhere(cards)], line, hints]
