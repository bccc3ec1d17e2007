// A guest of a Truc server, for Node 18 or later: plays a match of any game at random, and says how it ended.
// All of it is here but msgpack (client/truc_web/lib/messages.mjs), which other languages have as a package.
// node guest.mjs truc://HOST:PORT/TABLE    or    node guest.mjs HOST PORT [TABLE]

import { randomBytes, randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { pack, unpack } from '../../client/truc_web/lib/messages.mjs'

const NEW_TABLE = { variant: 'truc-french', options: { guests: 2, match: 1 } }
const [MOST_FAILURES, MOST_MOVES] = [20, 3]     // in a row without anything new: connections, moves
const asked = (ms = 0) => Math.min(ms, 120_000)     // a timer that is given too much is over at once
const stop = (text, code = 1) => { (code === 0 ? console.log : console.error)(text); process.exit(code) }

class Guest {
  constructor(server) {
    Object.assign(this, { server, table: server.pathname.slice(1) || null, token: null, ids: 0 })
    Object.assign(this, { failures: 0, moves: 0, match: null, next: 0, chosen: null })
  }

  async play() {     // come back, after growing pauses, until the match is over
    while (this.failures++ < MOST_FAILURES) {
      const { pauseMs } = await this.visit().catch((fault) => fault)
      this.socket.destroy()
      await wait(Math.max(asked(pauseMs), Math.min(50 * 2 ** this.failures, 2000) * (0.5 + Math.random())))
    }
    stop(`no way to the server at ${this.server.host}`)
  }

  async visit() {     // one connection, from hello on
    const socket = this.socket = connect(this.server.port || 7373, this.server.hostname.replace(/[[\]]/g, ''))
    socket.on('error', () => {}).on('timeout', () => socket.destroy()).setTimeout(10_000)
    Object.assign(this, { pieces: socket[Symbol.asyncIterator](), held: Buffer.alloc(0), longest: 65536 })
    const hello = await this.ask('hello', { proto: [1], cn: randomBytes(32) })     // signed, but believed
    if (unpack(hello.body)[4] !== 1) stop('the server has chosen a protocol that was not offered')
    const { limits, caps } = unpack(hello.info)
    this.longest = limits.frame_out
    socket.setTimeout(1500 * limits.idle_s)     // before that the server pings
    const login = this.token === null ? { name: 'guest' } : { token: this.token }
    const { token = this.token, seats = [] } = await this.ask('login', login)
    const held = seats.find((seat) => this.table === null || seat.table === this.table)
    Object.assign(this, { token, table: held?.table ?? this.table, isBack: held !== undefined })
    if (held?.match && !this.match?.equals(held.match)) Object.assign(this, { match: held.match, next: 0 })
    const { table, match, next } = this
    if (match === null || (await this.ask('resume', { table, match, next })).t === 'error') {
      const find = 'seek' in caps ? 'seek' : 'create'
      const seat = await (table === null ? this.ask(find, NEW_TABLE) : this.ask('join', { table }))
      this.table = seat.table ?? table
      console.log('table', this.table)
      await this.ask('ready', { table: this.table })
    }
    for (;;) this.take(await this.receive())
  }

  async ask(t, fields) {     // returns the reply; what comes before it is taken as it comes
    const id = this.ids++
    this.send({ t, id, ...fields })
    let reply
    while ((reply = await this.receive()).re !== id || reply.close) this.take(reply)     // then bye comes
    if (reply.retry_after_ms) return wait(asked(reply.retry_after_ms)).then(() => this.ask(t, fields))
    if (reply.t === 'error' && t !== 'ready' && reply.code !== 'no_such_match') stop(reply.msg)
    return reply
  }

  take(message, { t, table, match, k, at } = message) {     // what is new or of another table changes nothing
    if (t === 'ping') this.send({ t: 'pong', n: message.n })
    if (t === 'bye') this.part(message)
    if (message.code === 'seat_gone') stop(message.msg)
    if (this.table === null || table !== this.table) return
    const isMine = match && this.match?.equals(match)
    if (t === 'seat_taken_over' || t === 'closed') stop(`table ${table}: ${t}`)
    if (t === 'setup') Object.assign(this, { match, next: 0 })
    if (t === 'options' && isMine && at === this.next) this.act(message)
    if (t === 'record' && isMine && k === this.next) {
      Object.assign(this, { next: k + 1, failures: 0, moves: 0 })
      const end = message.means.find(({ what }) => what === 'match_ended')
      if (end) stop(end.winner === null ? end.reason : `${end.reason} by side ${end.winner}`, 0)
    }
    const isLate = t === 'table' && message.state === 'playing' && this.isBack && !isMine
    if (isLate || (t === 'record' && !(isMine && k < this.next))) throw new Error('come back, and resume')
  }

  part({ code, msg, retryable, to, reconnect_after_ms: pauseMs }) {
    if (to) [this.server, this.moves] = [new URL(`truc://${to}`), this.moves + 1]
    if (code === 'bad_token') this.token = null     // it is good once its guest has sat down
    else if (!retryable || this.moves > MOST_MOVES) stop(msg)
    throw Object.assign(new Error(msg), { pauseMs })
  }

  // Any option is a legal move. At the same position the choice stays the same, also over a new connection.
  act({ table, match, at, list, must }) {
    if (!must && !list.some(({ hints }) => hints.waits)) return
    const keys = list.filter(({ kind }) => kind !== 'concede' || list.length === 1).map(({ key }) => key)
    const isChosen = this.chosen?.at === at && keys.includes(this.chosen.choose)
    if (!isChosen) this.chosen = { at, choose: keys[randomInt(keys.length)] }
    this.send({ t: 'act', id: this.ids++, table, match, ...this.chosen })
  }

  send(message) {
    const frame = pack(message)
    this.socket.write(Buffer.concat([Buffer.of(0, 0, frame.length >> 8, frame.length), frame]))
  }

  async receive() {
    const length = (await this.read(4)).readUInt32BE()
    if (length > this.longest) throw new Error(`a frame of ${length} bytes`)
    return unpack(await this.read(length))
  }

  async read(length) {     // throws where the connection ends
    while (this.held.length < length) this.held = Buffer.concat([this.held, (await this.pieces.next()).value])
    const bytes = this.held.subarray(0, length)
    this.held = this.held.subarray(length)
    return bytes
  }
}

const [first, port, table = ''] = process.argv.slice(2)
if (first === undefined) stop('expected truc://HOST:PORT/TABLE, or HOST PORT [TABLE]')
await new Guest(new URL(port === undefined ? first : `truc://${first}:${port}/${table}`)).play()
