// A visit to a server, from a browser: who one is, the tables that are attended, and what the page asks for. It runs in
// the worker. What it tells the page are plain values:
//
//   { what: 'line', state, code?, retryMs?, to? }     state: opening, greeting, ready, waiting, or stopped for good; `to`: where the
//                                               server says that it has moved
//   { what: 'server', info }, { what: 'me', name, tag, isKeyed, why? }
//   { what: 'told', message }                   a message of the server as plain.mjs has it; own cards, options and signs
//                                               of a seat with a key are opened, as a guest without a box is sent them
//   { what: 'seated', table, seat }, { what: 'left', table }
//   { what: 'checked', table, k, phase, isUnseenByHost }     this record has passed every check; `isUnseenByHost` where all that was dealt
//                                               so far shows that the host could not see it
//   { what: 'proved', table, j, hands, secrets, cards, isSigned }     this hand was dealt again
//   { what: 'kept', table, match, isOver }      its transcript is stored, with the end where that has come
//   { what: 'failed', table, check, kind, culprit, k, why, evidence }     nothing is signed there any more; `kind` is
//                                               unsound, stopped_before or elsewhere where no check has a number for it;
//                                               `evidence` is the match, where what shows it is stored
//   { what: 'reply', n, message }               to the wish n: ok or error

import { Goodbye, Line, Stopped } from '../../lib/line.mjs'
import { Greeting, knownBy } from '../../lib/login.mjs'
import { CheckFailed } from '../../lib/proof/records.mjs'
import { Malformed } from '../../lib/proof/encoding.mjs'
import { plain } from './plain.mjs'
import { NotKept } from './vault.mjs'

const REPLIES = ['hello', 'welcome', 'ok', 'error']
const SIT = ['join', 'seek', 'create']
const LEAST_PAUSE_MS = 500
const MOST_PAUSE_MS = 30000
const WANT = ['history', 'own-options', 'blind']
const MOST_MOVES = 3     // of one request, from server to server

/** @typedef {{ n: number, t: string, fields: any, moves: number }} Wish */

/** A module could not be fetched, and may be another time. */
class NotFetched extends Error {}

/** @template T @param {Promise<T>} module @returns {Promise<T>} */
export const fetched = (module) => module.catch((fault) => { throw new NotFetched(fault.message) })

/**
 * What is given, or the error that stands for a module that cannot be fetched now.
 *
 * @template T
 * @param {() => T | Promise<T>} give
 * @returns {Promise<T | { t: 'error', code: string }>}
 */
export async function givenOrNoLine(give) {
  try {
    return await give()
  } catch (fault) {
    if (!(fault instanceof NotFetched)) throw fault
    return { t: 'error', code: 'no_line' }
  }
}

/** @typedef {import('../../lib/login.mjs').Me} Me */

/**
 * What a session is given.
 *
 * @typedef {object} Given
 * @property {() => Promise<import('../../lib/line.mjs').Connection>} connect
 * @property {string} server the name that its key is pinned by
 * @property {string | null} invite to a closed server
 * @property {boolean} isFollowed whether the way there leads on to where the server says that it has moved
 * @property {string | null} fingerprint of the server's key, where the way here has named it
 * @property {Uint8Array[]} revoked keys of servers that are accepted nowhere any more
 * @property {import('./vault.mjs').Vault | null} vault null where the browser keeps nothing: then one is a guest
 * @property {string | null} whyGuest why this browser cannot have a key; null if it can
 * @property {boolean} asksName whether the page asks a player without a name for one before it asks for anything else
 * @property {(event: any) => void} tell
 */

export class Session {
  /** @param {Given} given */
  constructor({ connect, isFollowed, server, invite, fingerprint, revoked, vault, whyGuest, asksName, tell }) {
    this.connect = connect
    this.isFollowed = isFollowed
    this.server = server
    this.invite = invite
    this.fingerprint = fingerprint
    this.revoked = revoked
    this.vault = vault
    this.whyGuest = whyGuest
    this.asksName = asksName
    this.tell = tell
    /** @type {Map<string, import('./attended.mjs').AttendedTable>} */
    this.attended = new Map()
    /** @type {Map<number, Wish>} */
    this.wishes = new Map()     // by the id of the request
    /** @type {Wish[]} */
    this.elsewhere = []     // what was not done, as it is done where the server leads
    /** @type {Map<number, (reply: any) => void>} */
    this.pages = new Map()      // of a match that is fetched, likewise
    this.followsLobby = false
    /** @type {Set<string>} */
    this.meantReady = new Set()     // the tables at which the player wants to play
    this.isLoginHeld = false     // whether the login waits for a name
    /** @type {((value: unknown) => void)[]} */
    this.loginWaiters = []     // whom to tell that the login is sent
    this.failures = 0
    this.isOver = false
    this.isHurried = false
    this.wake = () => {}
    /** @type {import('../../lib/login.mjs').Met | null} */
    this.met = null
    /** @type {Me | null} */
    this.me = null
    this.name = ''
    /** The name that was said; a vault keeps it. @type {string | null} */
    this.said = null
    /** @type {string | null} */
    this.token = null
    /** The newest token, which is good once its guest has sat down. @type {string | null} */
    this.given = null
    // There once the session runs.
    this.line = /** @type {Line} */ (/** @type {unknown} */ (undefined))
    this.greeting = /** @type {Greeting} */ (/** @type {unknown} */ (undefined))
  }

  /** Stay connected until there is nothing to come back for. */
  async run() {
    while (!this.isOver) {
      try {
        await this.visit()
      } catch (fault) {
        this.lose(/** @type {Partial<Goodbye>} */ (fault))
        if (this.isOver) return
        await this.pauseOrStop(/** @type {Error} */ (fault))
      }
    }
  }

  /** This session ends; another one has the key. */
  end() {
    this.isOver = true
    this.line?.connection.close()
    this.wake()
  }

  async visit() {
    this.tell({ what: 'line', state: 'opening' })
    const connection = await this.connect()
    if (this.isOver) return connection.close()
    const line = this.line = new Line(connection)
    this.greeting = new Greeting(line)
    this.greeting.begin({ want: WANT, client: { name: 'truc-web' } })
    for await (const { message, payload } of line.messages()) await this.take(message, payload)
  }

  /** What was wished for over a connection that is lost gets no answer any more, but where the way leads on to it. @param {Partial<Goodbye>} fault */
  lose({ to = null }) {
    this.line?.end()
    const isLed = to !== null && this.isFollowed
    for (const wish of [...this.elsewhere.splice(0), ...this.wishes.values()]) {
      if (isLed && wish.moves < MOST_MOVES) this.elsewhere.push({ ...wish, moves: wish.moves + 1 })
      else this.answer(wish.n, 'no_line')
    }
    this.wishes.clear()
    for (const take of this.pages.values()) take({ t: 'error', code: 'no_line' })
    this.pages.clear()
  }

  /** @param {Error & Partial<Goodbye>} fault */
  async pauseOrStop(fault) {
    const { code = null, retryable = true, pauseMs = 0, to = null } = fault
    const isFinal = fault instanceof Stopped || fault instanceof NotKept || (!retryable && !this.isHurried) || isCheck(fault)
    const why = isCheck(fault) ? 'server_not_proved' : fault instanceof NotKept ? 'no_room' : code
    if (isFinal) {
      this.isOver = true
      return this.tell({ what: 'line', state: 'stopped', code: why ?? fault.message })
    }
    if (this.isHurried) {
      this.isHurried = false
      return
    }
    if (this.isLoginHeld && to === null) {     // the server waits for a login no longer than it must
      this.isLoginHeld = false
      return new Promise((resolve) => { this.wake = () => resolve(undefined) })
    }
    this.failures += 1
    const most = Math.min(LEAST_PAUSE_MS * 2 ** (this.failures - 1), MOST_PAUSE_MS)
    // at random, as all pages that a server has lost would be
    // back at one moment; never sooner than it has asked for
    const pause = Math.max(pauseMs, most * (0.5 + Math.random() / 2))
    this.tell({ what: 'line', state: 'waiting', code, retryMs: Math.round(pause), ...(to !== null && !this.isFollowed && plain({ to })) })
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, pause)
      this.wake = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
  }

  /** End this connection for another one at once. */
  comeBack() {
    this.isHurried = true
    this.line?.connection.close()
    this.wake()
  }

  /** The page is seen again, or the network is back. */
  awake() {
    this.wake()
    // a page that was frozen cannot know whether its server has died meanwhile: it asks at once
    if (this.line?.isOpen && !this.line.isQuiet) this.line.endSilence()
  }

  /** What the parts of the session work with. @returns {import('./attended.mjs').Means} */
  get means() {
    const now = () => ({ me: this.me, spk: this.pinned.present, name: this.name, line: this.line, findsOptions: this.findsOptions })
    return { tell: this.tell, vault: this.vault, now }
  }

  /** Whether a seat with a key is sent no options over this connection. */
  get findsOptions() {
    return this.met !== null && 'own-options' in this.met.info.caps
  }

  get pinned() {
    return /** @type {import('../../lib/login.mjs').Met} */ (this.met).pin
  }

  /** @param {any} message @param {Uint8Array} payload */
  async take(message, payload) {
    if (REPLIES.includes(message.t)) return this.takeReply(message, payload)
    const attended = this.attended.get(message.table)
    if (message.t === 'closed' || message.t === 'seat_taken_over') this.attended.delete(message.table)
    if (attended !== undefined && message.t !== 'chat') await attended.take(message)
    else if (message.box === undefined) this.tell({ what: 'told', message: plain(message) })
  }

  /** @param {any} reply @param {Uint8Array} payload */
  async takeReply(reply, payload) {
    const { t = '', fields = {} } = this.line.answeredBy(reply)
    const n = this.wishes.get(reply.re)?.n
    this.wishes.delete(reply.re)
    this.pages.get(reply.re)?.(reply)
    this.pages.delete(reply.re)
    if (t === 'hello' && reply.t === 'hello') return this.logIn(reply, payload)
    if (reply.t === 'welcome') return this.enter(reply)
    if (reply.t === 'error') await this.takeError(reply, t, fields)
    else if (SIT.includes(t)) await this.sitDown(reply.table ?? fields.table, reply.seat)
    else if (t === 'resume') await this.attended.get(fields.table)?.reached(reply.k)
    else if (t === 'leave' || t === 'unwatch') this.leave(fields.table)
    if (n !== undefined) this.tell({ what: 'reply', n, message: plain(reply) })
  }

  /** @param {any} reply @param {Uint8Array} payload */
  async logIn(reply, payload) {
    const known = knownBy(this.vault?.kept.pins[this.server] ?? this.met?.pin ?? null, this.fingerprint)
    const met = this.met = this.greeting.meet(reply, payload, { known, revoked: this.revoked })
    // before the login, whose key is derived from it (keyed-client.md, 7)
    await this.vault?.pin(this.server, met.pin)
    this.tell({ what: 'server', info: plain(met.info) })
    this.tell({ what: 'line', state: 'greeting' })
    this.isLoginHeld = this.asksName && this.wanted === null
    if (!this.isLoginHeld) await this.prove(met)
  }

  /** @param {import('../../lib/login.mjs').Met} met */
  async prove(met) {
    this.isLoginHeld = false
    if (this.vault !== null && this.whyGuest === null) {
      this.me = await this.vault.me(met.pin)
      const proof = await this.greeting.prove(met, this.me)
      const name = this.wanted     // it may have been said meanwhile
      this.line.ask('login', { ...(name !== null && { name }), ...(this.invite !== null && { invite: this.invite }), ...proof })
    } else {
      this.token ??= this.vault?.token ?? null
      this.line.ask('login', this.token === null ? { name: this.wanted ?? 'guest' } : { token: this.token })
    }
    this.loginWaiters.splice(0).forEach((tell) => tell(null))
  }

  /** @param {any} welcome */
  async enter({ name, player, token, seats = [] }) {
    this.line.open()
    this.failures = 0
    this.name = name
    this.given = token ?? this.token
    if (seats.length > 0) await this.keepToken(this.given)
    this.tell({ what: 'me', name, tag: player, isKeyed: this.me !== null, why: this.whyGuest })
    const held = new Map(seats.map((/** @type {any} */ seat) => [seat.table, seat]))
    for (const [table, { number }] of this.attended) if (number !== null && !held.has(table)) this.leave(table)
    for (const { table, seat, match } of held.values()) (await this.attend(table, seat)).meet(true, match)
    for (const attended of this.attended.values()) if (attended.number === null) attended.meet(false)
    if (this.followsLobby) this.line.ask('lobby', {})
    this.tell({ what: 'line', state: 'ready' })
    for (const wish of this.elsewhere.splice(0)) this.ask(wish)
  }

  /** What follows a table is loaded with the first: it is not needed to come to a seat. @param {string} table @param {number | null} seat */
  async attend(table, seat) {
    if (this.attended.get(table)?.number !== seat) this.tell({ what: 'seated', table, seat })
    const { AttendedTable } = await fetched(import('./attended.mjs'))
    const known = this.attended.get(table)
    if (known !== undefined && known.number === seat) return known
    const attended = new AttendedTable(this.means, table, seat)
    attended.wantsReady = this.meantReady.has(table)
    this.attended.set(table, attended)
    return attended
  }

  /** @param {string} table @param {number} seat */
  async sitDown(table, seat) {
    await this.keepToken(this.given)
    const attended = await this.attend(table, seat)
    attended.talk?.meet(this.line, attended.talk.isBack, this.findsOptions)
  }

  /** By a token a guest comes back as who they are. @param {string | null} token */
  async keepToken(token) {
    if (this.me !== null || token === this.token) return
    this.token = token
    await this.vault?.keepToken(token)
  }

  /** What the player would be called, where they have said it. */
  get wanted() {
    return this.vault?.name ?? this.said
  }

  /** The player has a name by now; the promise is kept when the login with it is sent, so that one can ask behind it. @param {string} name */
  async nameIs(name) {
    this.said = name
    if (this.isLoginHeld && this.met !== null) return this.prove(this.met)
    const isSent = new Promise((resolve) => this.loginWaiters.push(resolve))
    // by a token one is called as before, and keeps a seat
    if (![...this.attended.values()].some(({ number }) => number !== null)) await this.keepToken(null)
    if (this.line?.isOpen || this.line?.isAsking('login')) {
      this.tell({ what: 'line', state: 'opening' })
      this.comeBack()     // to log in by it
    } else {
      this.wake()
    }
    await isSent
  }

  /** The login waits for no name any more. */
  async logInNow() {
    this.asksName = false
    if (this.isLoginHeld && this.met !== null) await this.prove(this.met)
    else if (this.name === '') this.wake()
  }

  /** @param {string} table */
  leave(table) {
    this.attended.delete(table)
    this.tell({ what: 'left', table })
  }

  /** @param {any} error @param {string} t @param {any} fields */
  async takeError(error, t, fields) {
    const attended = this.attended.get(fields.table)
    if (t === 'login' && error.code === 'bad_token') {
      await this.keepToken(null)
      // anew, by name
      this.comeBack()
    } else if (t === 'login' && error.field === 'name') {
      // kept, it would be refused at every visit: one comes back without a name, and is asked for another
      this.said = null
      await this.vault?.rename(null)
      this.tell({ what: 'vault', name: null, isRefused: true })
      this.comeBack()
    } else if (t === 'act' && attended?.talk != null) {
      await attended.refused(error, fields)
    } else if (t === 'resume' && error.code === 'no_such_match') {
      this.line.ask('join', { table: fields.table })
    } else if (['watch', 'resume', 'join'].includes(t) && attended !== undefined) {
      if (t === 'watch' || error.code !== 'rate_limited') this.leave(fields.table)
    }
    if (t === 'act' && error.code === 'bad_position') throw new Error(error.msg)     // from the last position on, anew
  }

  /**
   * What the page wishes: `ask` sends any request as it is; the others are below.
   *
   * @param {any} wish
   */
  async grant(wish) {
    /** @type {any} */
    const given = await givenOrNoLine(() => this.grantNow(wish))
    if (given?.t === 'error') this.answer(wish.n, given.code)
  }

  /** @param {any} wish */
  async grantNow(wish) {
    const { n, table } = wish
    const attended = this.attended.get(table)
    switch (wish.do) {
      case 'ask': return this.ask(wish)
      case 'watch':
        (await this.attend(table, null)).watch()
        return this.answer(n)
      case 'choose': return this.answer(n, await attended?.choose(wish.at, wish.key) ?? null)
      case 'interrupt': return attended?.interrupt(wish.kind)
      case 'sign': return attended?.sign(wish.word, wish.to)
      case 'claim': return this.ask({ n, t: 'claim_match', fields: { table, match: this.matchOf(table) } })
      case 'fetch': return this.fetch(wish)
    }
  }

  /** A match is fetched, judged and kept. @param {{ n: number } & import('./fetching.mjs').Known} wish */
  async fetch(wish) {
    const { fetchFor } = await fetched(import('./fetching.mjs'))
    await fetchFor(this, wish)
  }

  /** @param {string} table */
  matchOf(table) {
    const attended = this.attended.get(table)
    return attended?.talk?.seat.mid ?? attended?.follower.mid ?? null
  }

  /** @param {number | undefined} n @param {string | null} [code] what went wrong */
  answer(n, code = null) {
    const message = code === null ? { t: 'ok' } : { t: 'error', code, msg: code }
    if (n !== undefined) this.tell({ what: 'reply', n, message })
  }

  /** @param {string} table @param {boolean} isMeant */
  meanReady(table, isMeant) {
    const attended = this.attended.get(table)
    if (attended !== undefined) attended.wantsReady = isMeant
    if (isMeant) this.meantReady.add(table)
    else this.meantReady.delete(table)
  }

  /** @param {{ n?: number, t: string, fields?: any, moves?: number }} wish */
  ask({ n, t, fields = {}, moves = 0 }) {
    // behind a login that is on its way a request waits for the
    // welcome: login, join and ready go in one flight (decision 23)
    if (!this.line?.isOpen && !this.line?.isAsking('login')) return this.answer(n, 'no_line')
    if (t === 'ready' || t === 'unready') this.meanReady(fields.table, t === 'ready')
    if (t === 'lobby') this.followsLobby = !fields.off
    if (n !== undefined) this.wishes.set(this.line.nextId, { n, t, fields, moves })
    this.line.ask(t, fields)
  }
}

/** @param {Error} fault */
const isCheck = (fault) => fault instanceof CheckFailed || fault instanceof Malformed
