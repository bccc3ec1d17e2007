// A guest of a Truc server, for Node 18 or later: plays one match of whatever game at random, and says how it ended.
//
// node guest.mjs truc://HOST:PORT/TABLE    or    node guest.mjs HOST PORT [TABLE]

import { randomBytes, randomInt } from 'node:crypto'
import { Line, Stopped, placeOf, run } from './line.mjs'
import { unpack } from './messages.mjs'

const NEW_TABLE = { variant: 'truc-french', options: { guests: 2, match: 1 } }
const SIT = ['join', 'seek', 'create']

class Guest {
  constructor(place) {
    Object.assign(this, place, { token: null, match: null, next: 0, chosen: null, failures: 0 })
  }

  // One connection, from hello to its end; returns how the match has ended.
  async visit() {
    const line = this.line = new Line(this)
    line.ask('hello', { proto: [1], cn: randomBytes(32) })
    for await (const { message } of line.messages()) {
      const ended = this.take(message)
      if (ended) return ended
    }
  }

  // What is new, or of another table, changes nothing.
  take(message) {
    if (['hello', 'welcome', 'ok', 'error'].includes(message.t)) this.takeReply(message)
    if (this.table === null || message.table !== this.table) return
    switch (message.t) {
      case 'closed': throw new Stopped(`table ${this.table} is closed: ${message.reason}`)
      case 'seat_taken_over': throw new Stopped('another connection has the seat now')
      case 'setup': return this.know(message.match)
      case 'record': return this.takeRecord(message)
      case 'options': if (this.isNext(message, message.at)) return this.act(message); break
      case 'table': if (this.isBack && message.state === 'playing') this.follow(message.match)
    }
  }

  takeReply(reply) {
    const { t, fields } = this.line.answeredBy(reply)
    if (reply.t === 'error') this.takeError(reply, t, fields)
    else if (t === 'hello') this.logIn(unpack(reply.body), unpack(reply.info))     // signed; a guest believes it
    else if (t === 'login') this.enter(reply)
    else if (SIT.includes(t)) this.sitDown(reply.table ?? this.table)
    else if (t === 'resume' && reply.k > this.next) throw new Error('records are missing')
  }

  logIn({ 4: protocol }, { limits, caps }) {
    if (protocol !== 1) throw new Stopped('the server has chosen a protocol that was not offered')
    this.line.obey(limits)
    this.caps = caps
    this.line.ask('login', this.token === null ? { name: 'guest' } : { token: this.token })
  }

  enter({ token = this.token, seats = [] }) {
    const held = seats.find(({ table }) => this.table === null || table === this.table)
    this.line.isOpen = true
    Object.assign(this, { token, table: this.table ?? held?.table ?? null, isBack: held !== undefined })
    const match = held?.match ?? this.match
    return match ? this.follow(match) : this.findSeat()
  }

  findSeat() {
    if (this.table !== null) this.line.ask('join', { table: this.table })
    else this.line.ask('seek' in this.caps ? 'seek' : 'create', NEW_TABLE)
  }

  sitDown(table) {
    console.log(`table ${table}`)
    this.table = table
    this.line.ask('ready', { table })
  }

  // What an act is told does not matter: where it is still to be made, options come again.
  takeError(error, t, fields, line = this.line) {
    if (error.retry_after_ms) setTimeout(() => line === this.line && line.ask(t, fields), error.retry_after_ms)
    else if (t === 'resume' && error.code === 'no_such_match') this.findSeat(this.match = null)
    else if ([...SIT, 'resume'].includes(t) || error.code === 'seat_gone') throw new Stopped(error.msg)
    else if (error.code === 'bad_token') {
      this.token = null     // it is good only once its guest has sat down
      throw new Error(error.msg)
    }
  }

  know(match) {
    if (!this.match?.equals(match)) Object.assign(this, { match, next: 0, chosen: null })
  }

  // Have the records sent that are missing.
  follow(match) {
    this.know(match)
    if (!this.line.isAsking('resume')) this.line.ask('resume', { table: this.table, match, next: this.next })
  }

  // Whether this is the next position. A later one, or another match, shows that records are missing.
  isNext({ match }, k) {
    if (!this.match?.equals(match) || k > this.next) this.follow(match)
    return k === this.next
  }

  takeRecord(record) {
    if (!this.isNext(record, record.k)) return
    Object.assign(this, { next: record.k + 1, failures: 0 })
    const ended = record.means.find(({ what }) => what === 'match_ended')
    if (ended) return ended.winner == null ? ended.reason : `${ended.reason} by side ${ended.winner}`
  }

  // Any option is a legal move. For the same position the choice stays the same, also over a new connection.
  act({ match, at, list, must }) {
    if (!must && !list.some(({ hints }) => hints.waits)) return
    const keys = list.filter(({ kind }) => kind !== 'concede' || list.length === 1).map(({ key }) => key)
    const isChosen = this.chosen?.at === at && keys.includes(this.chosen.key)
    if (!isChosen) this.chosen = { at, key: keys[randomInt(keys.length)] }
    this.line.ask('act', { table: this.table, match, at, choose: this.chosen.key })
  }
}

await run(new Guest(placeOf(process.argv.slice(2))))
