// A connection to a server: frames, requests and their replies, signs of life; and how one comes back after it is lost.
// What is said over it is not here.

import { connect, isIP } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectEncrypted } from 'node:tls'
import { sha256 } from '../verifiers/encoding.mjs'
import { pack, unpack } from './messages.mjs'

const MOST_FAILURES = 20     // connections in a row that brought nothing new
const GREETING_S = 10
const PROTOCOL = 'truc/1'     // by its ALPN name
const FRAME_LIMIT = 65536     // until the server has said its own

// Thrown where there is nothing to come back for. Any other error costs the connection only.
export class Stopped extends Error {
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

// The server's last word, with what it says about coming back.
class Goodbye extends Error {
  constructor({ code, msg, retryable, reconnect_after_ms: pauseMs = 0, to = null }) {
    super(`${code}: ${msg}`)
    Object.assign(this, { retryable, pauseMs, to })
  }
}

// { host, port, table, … } of the arguments: truc://HOST:PORT/TABLE?invite=CODE#FINGERPRINT, trucs:// for TLS, or HOST PORT [TABLE].
export function placeOf([first, port, table = null]) {
  if (!/^trucs?:/.test(first)) {
    return { host: first, port: Number(port), table, fingerprint: null, invite: null, isEncrypted: false }
  }
  const link = new URL(first)
  return {
    isEncrypted: link.protocol === 'trucs:',
    host: link.hostname.replace(/^\[|]$/g, ''), port: Number(link.port || 7373),
    table: link.pathname.replaceAll('/', '') || null, fingerprint: link.hash.slice(1) || null,
    invite: link.searchParams.get('invite')
  }
}

// The server's key says whose certificate it is, and no authority: whoever does not check the hello talks to anybody.
function encrypted(host, port) {
  const servername = isIP(host) ? '' : host
  return connectEncrypted({
    host, port, servername, minVersion: 'TLSv1.3', ALPNProtocols: [PROTOCOL], rejectUnauthorized: false
  })
}

export class Line {
  constructor({ host, port, isEncrypted }) {
    if (!(port > 0 && port < 65536)) throw new Stopped('expected truc://HOST:PORT/TABLE, or HOST PORT [TABLE]')
    Object.assign(this, { nextId: 0, asked: new Map(), frameLimit: FRAME_LIMIT, isOpen: false, isQuiet: false })
    this.socket = (isEncrypted ? encrypted(host, port) : connect(port, host)).setTimeout(1000 * GREETING_S)
    this.socket.on('error', () => {})     // `messages` throws it too
    this.socket.on('timeout', () => this.endSilence())
  }

  // The hash of the certificate that the server shows, for the signed hello to vouch for; null in clear.
  get certificate() {
    if (this.socket.getPeerCertificate === undefined) return null
    if (this.socket.alpnProtocol !== PROTOCOL) throw new Stopped('another protocol is spoken there over TLS')
    return sha256(this.socket.getPeerCertificate().raw)
  }

  // Before the greeting is over nobody may ask for a sign of life; after it, once.
  endSilence() {
    if (this.isQuiet || !this.isOpen) this.socket.destroy()
    else this.isQuiet = this.send('ping', { n: 0 }) !== null
  }

  // Returns the bytes without their length.
  send(t, fields) {
    const payload = pack({ t, ...fields })
    const length = Buffer.alloc(4)
    length.writeUInt32BE(payload.length)
    this.socket.write(Buffer.concat([length, payload]))
    return payload
  }

  ask(t, fields) {
    const id = this.nextId++
    this.asked.set(id, { t, fields })
    return this.send(t, { id, ...fields })
  }

  isAsking(t) {
    return [...this.asked.values()].some((request) => request.t === t)
  }

  // The request of a reply. Replies come late, twice and in any order; one that belongs to no open request has none.
  answeredBy({ re }) {
    const request = this.asked.get(re) ?? {}
    this.asked.delete(re)
    return request
  }

  obey({ frame_out: frameLimit, idle_s: idleS }) {
    this.frameLimit = frameLimit
    this.socket.setTimeout(1000 * idleS)
  }

  async * frames() {
    let held = Buffer.alloc(0)
    for await (const piece of this.socket) {
      held = Buffer.concat([held, piece])
      while (held.length >= 4) {
        const length = held.readUInt32BE()
        if (length === 0 || length > this.frameLimit) throw new Error(`a frame of ${length} bytes`)
        if (held.length < 4 + length) break
        yield held.subarray(4, 4 + length)
        held = held.subarray(4 + length)
      }
    }
  }

  // Every message but pings, with its bytes, up to the last.
  async * messages() {
    for await (const payload of this.frames()) {
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

// Visit until there is a result, and say it.
export async function run(client) {
  try {
    console.log(await comeBack(client))
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    console.error(error.message)
    process.exitCode = error.exitCode
  }
}

// Visit the server until a visit has a result. Whatever brings something new sets the client's `failures` to 0.
async function comeBack(client) {
  for (;;) {
    try {
      return await client.visit()
    } catch (fault) {
      if (fault instanceof Stopped) throw fault
      await wait(pauseAfter(fault, client))
    }
  }
}

function pauseAfter(fault, client) {
  const { pauseMs = 0, to = null, retryable = true } = fault
  client.failures += 1
  if (client.failures > MOST_FAILURES) throw new Stopped(`no way to the server: ${fault.message}`)
  if (to !== null) {
    const { host, port } = placeOf([`truc://${to}`])
    Object.assign(client, { host, port })
  } else if (!retryable) {
    throw new Stopped(fault.message)
  }
  return Math.max(pauseMs, Math.min(50 * 2 ** client.failures, 2000)) * (1 + Math.random() / 2)     // not all at once
}
