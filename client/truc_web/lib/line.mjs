// A connection to a server: frames, requests and their replies, signs of life. What is said over it is not here, nor how
// one comes back after it is lost (coming_back.mjs).

import { pack, unpack } from './messages.mjs'

// as long as a server gives a client for its login (session.md, "Login")
const GREETING_S = 10
const GREETING = ['hello', 'login']     // all that a server takes before its welcome
const FRAME_LIMIT = 65536     // until the server has said its own
const LONGEST_ASKED_MS = 120000     // a server that asks for a longer wait does not get it
const EXPECTED = 'expected truc://HOST:PORT/TABLE, or HOST PORT [TABLE]'

/**
 * A table at a server, as a link names it.
 *
 * @typedef {object} Place
 * @property {string} host
 * @property {number} port
 * @property {boolean} isEncrypted
 * @property {string | null} table
 * @property {string | null} fingerprint of the server's key
 * @property {string | null} invite
 */

/**
 * A connection as a platform has it, over which whole frames go. `connect` of platform_node.mjs makes one, and
 * `connectWeb` of web_socket.mjs.
 *
 * @typedef {object} Connection
 * @property {Uint8Array | null} binding what the signed hello must vouch for: the hash of the certificate that the server
 *   shows, or what stands for it on a WebSocket; null in clear
 * @property {boolean} isOfTruc false where another protocol is spoken over TLS
 * @property {(payload: Uint8Array) => void} send
 * @property {() => void} close
 * @property {(seconds: number, then: () => void) => void} onSilence calls it whenever so long nothing has come or gone
 * @property {(limit: () => number) => AsyncIterable<Uint8Array>} frames of at most so many bytes; throws if it breaks off
 */

/** Thrown where there is nothing to come back for. Any other error costs the connection only. */
export class Stopped extends Error {
  /** @param {string} message @param {boolean} isFailure whether a check has failed */
  constructor(message, isFailure = false) {
    super(message)
    this.isFailure = isFailure
  }
}

/**
 * How long to wait where a server asks for some time: a timer that is given more than it can count is over at once.
 *
 * @param {number} ms
 */
export const pauseAsked = (ms) => Math.min(ms, LONGEST_ASKED_MS)

/** The server's last word, with what it says about coming back. */
export class Goodbye extends Error {
  /** @param {any} message `bye`, or an `error` that closes the connection */
  constructor({ code, msg, retryable, reconnect_after_ms: pauseMs = 0, to = null }) {
    super(`${code}: ${msg}`)
    /** @type {string} */
    this.code = code
    /** @type {boolean} */
    this.retryable = retryable
    /** @type {number} */
    this.pauseMs = pauseAsked(pauseMs)
    /** @type {string | null} */
    this.to = to
  }
}

/** @typedef {{ t?: string, fields?: any }} Request one that was sent, until it is answered */

/**
 * The place of a link, truc://HOST:PORT/TABLE?invite=CODE#FINGERPRINT (trucs:// for TLS), or of HOST PORT [TABLE].
 *
 * @param {string[]} words
 * @returns {Place}
 */
export function placeOf([first, port, table]) {
  const place = /^trucs?:/.test(first) ? placeOfLink(first) : {
    host: first, port: Number(port), table: table ?? null, fingerprint: null, invite: null, isEncrypted: false
  }
  if (!(place.port > 0 && place.port < 65536)) throw new Stopped(EXPECTED)
  return place
}

/** @param {string} text @returns {Place} */
function placeOfLink(text) {
  let link
  try {
    link = new URL(text)
  } catch {
    throw new Stopped(EXPECTED)     // where a server sends one to such a place, too
  }
  return {
    isEncrypted: link.protocol === 'trucs:',
    host: link.hostname.replace(/^\[|]$/g, ''), port: Number(link.port || 7373),
    table: link.pathname.replaceAll('/', '') || null, fingerprint: link.hash.slice(1) || null,
    invite: link.searchParams.get('invite')
  }
}

/** One connection: `ask` sends a request, `messages` yields what comes, `answeredBy` finds the request of a reply. */
export class Line {
  /** @param {Connection} connection */
  constructor(connection) {
    this.nextId = 0
    /** @type {Map<number, Request>} */
    this.asked = new Map()
    /** @type {Uint8Array[]} */
    this.held = []     // requests that wait for the welcome
    this.frameLimit = FRAME_LIMIT
    this.isOpen = false
    this.isQuiet = false
    this.connection = connection
    this.connection.onSilence(GREETING_S, () => this.endSilence())
  }

  // What the signed hello must vouch for.
  get binding() {
    const { isOfTruc, binding } = this.connection
    if (!isOfTruc) throw new Stopped('another protocol is spoken there over TLS')
    return binding
  }

  /** The server has said welcome: what was asked for before is sent. */
  open() {
    this.isOpen = true
    for (const payload of this.held.splice(0)) this.connection.send(payload)
  }

  /** Nothing that was asked for gets an answer any more. */
  end() {
    this.isOpen = false
    this.held = []
    this.asked.clear()
  }

  // Before the greeting is over nobody may ask for a sign of life; after it, once.
  endSilence() {
    if (this.isQuiet || !this.isOpen) this.connection.close()
    else this.isQuiet = this.send('ping', { n: 0 }) !== null
  }

  /** Returns the bytes of the message. @param {string} t @param {object} fields */
  send(t, fields) {
    const payload = pack({ t, ...fields })
    this.connection.send(payload)
    return payload
  }

  /** Returns the bytes, which wait for the welcome where they must. @param {string} t @param {object} [fields] @returns {Uint8Array} */
  ask(t, fields) {
    const id = this.nextId++
    this.asked.set(id, { t, fields })
    if (this.isOpen || GREETING.includes(t)) return this.send(t, { id, ...fields })
    const payload = pack({ t, id, ...fields })
    // what comes behind a login before its welcome costs the connection (session.md, "Hello")
    this.held.push(payload)
    return payload
  }

  /** @param {string} t */
  isAsking(t) {
    return [...this.asked.values()].some((request) => request.t === t)
  }

  // The request of a reply. Replies come late, twice and in any order; one that belongs to no open request has none.
  /** @param {{ re: number }} reply @returns {Request} */
  answeredBy({ re }) {
    const request = this.asked.get(re) ?? {}
    this.asked.delete(re)
    return request
  }

  /** @param {{ frame_out: number, idle_s: number }} limits */
  keepLimits({ frame_out: frameLimit, idle_s: idleS }) {
    this.frameLimit = frameLimit
    this.connection.onSilence(idleS, () => this.endSilence())
  }

  // Every message but pings, with its bytes, up to the last.
  /** @returns {AsyncGenerator<{ message: any, payload: Uint8Array }>} */
  async * messages() {
    for await (const payload of this.connection.frames(() => this.frameLimit)) {
      this.isQuiet = false
      const message = unpack(payload)
      if (message.t === 'ping') this.send('pong', { n: message.n })
      else yield { message, payload }
      const isLast = message.t === 'bye' || (message.t === 'error' && message.close && !message.retryable)
      if (isLast) throw new Goodbye(message)
    }
    throw new Error('the server hung up')
  }
}
