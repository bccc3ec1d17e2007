// A player with a key, for Node 18 or later, on the verifier in docs/verifiers: signs one match of whatever game at
// random, and checks every record of it.
//
// node keyed.mjs truc://HOST:PORT/TABLE#FINGERPRINT [--keep FILE] [--out FILE]     trucs:// for a server with TLS
//
// Exit code 0: the match is over, and everything passes. 3: a check has failed; nothing was signed after it. 1: else.
// The transcript, as far as there is one, is written to --out: node ../verifiers/verify.mjs FILE reads it. Where the
// server showed another history before, that is FILE.known.

import { hkdfSync, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Malformed, encode, sha256 } from '../verifiers/encoding.mjs'
import { TRANSCRIPT } from '../verifiers/files.mjs'
import { checkHello, fingerprint } from '../verifiers/handshake.mjs'
import { sign, signingKeyOf } from '../verifiers/keys.mjs'
import { CheckFailed, nameOf } from '../verifiers/records.mjs'
import { Keeping } from './keeping.mjs'
import { Line, Stopped, placeOf, run } from './line.mjs'
import { unpack } from './messages.mjs'
import { FAILED, Seat } from './seat.mjs'

const PROTOCOLS = [1]
const NEW_TABLE = { variant: 'truc-french', options: { match: 1 } }
const SIT = ['join', 'seek', 'create']

class Player {
  constructor(place, keeping, out) {
    Object.assign(this, place, { keeping, out, pin: null, seat: null, number: null, failures: 0 })
  }

  // One connection, from hello to its end; returns how the match has ended.
  async visit() {
    const line = this.line = new Line(this)
    Object.assign(this, { cn: randomBytes(32), isBack: false, handed: new Set(), shown: null, terms: null })
    this.hello = line.ask('hello', { proto: PROTOCOLS, cn: this.cn })
    for await (const { message, payload } of line.messages()) {
      const ended = this.check(() => this.take(message, payload))
      if (ended) return ended
    }
  }

  // Stop at the first check that fails.
  check(step) {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof CheckFailed || error instanceof Malformed)) throw error
      const { check = null, culprit = null, message } = error
      const blame = check === null || culprit === null ? 'nobody is shown to blame' : `to blame: ${nameOf(culprit)}`
      const why = `${check === null ? message : `${check} fails`}, ${blame}`
      this.seat?.stop(why)
      this.write(this.seat?.failing ?? null, this.out)
      if (check === 'C33') this.write(this.seat.known(), `${this.out}.known`)     // beside it the two histories are seen
      throw new Stopped(`stopped at position ${Math.max(0, this.seat?.next ?? 0)}: ${why}`, FAILED)
    }
  }

  // What is new, or of another table, changes nothing.
  take(message, payload) {
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

  takeReply(reply, payload) {
    const { t, fields } = this.line.answeredBy(reply)
    if (reply.t === 'error') this.takeError(reply, t, fields)
    else if (t === 'hello') this.logIn(reply, payload)
    else if (t === 'login') this.enter(reply)
    else if (SIT.includes(t)) this.sitDown(reply)
    else if (t === 'resume') return this.reached(reply.k)
  }

  // C37 before anything is said about oneself; then C38, as the server will check it.
  logIn(reply, payload) {
    const mine = { frame: this.hello, offered: PROTOCOLS, cert: this.line.certificate }
    const client = { ...mine, revoked: [], now: Date.now() / 1000, known: this.known() }
    const { sn, pin } = checkHello(client, { rolls: [], ...reply })
    Object.assign(this, { pin, me: this.playerOf(pin) })
    this.keeping.kept.pins[`${this.host}:${this.port}`] = pin
    this.keeping.save()
    this.seat ??= new Seat(this.keeping, this.me, pin.present)
    const { limits, caps } = unpack(reply.info)
    this.line.obey(limits)
    this.caps = caps
    const body = encode(['truc/1/auth', pin.present, this.me.pk, this.cn, sn, sha256(payload)])
    const invite = this.invite && { invite: this.invite }
    this.line.ask('login', { name: 'keyed', body, sig: sign(this.me.seed, body), ...invite })
  }

  // The fingerprint of the link, unless it names the server that is pinned already.
  known() {
    const pin = this.pin ?? this.keeping.kept.pins[`${this.host}:${this.port}`] ?? null
    const isNamed = pin !== null && [pin.first, pin.present].some((key) => fingerprint(key) === this.fingerprint)
    return this.fingerprint === null || isNamed ? pin : { fingerprint: this.fingerprint }
  }

  // A key of its own for each server, from the master seed.
  playerOf({ first }) {
    const info = encode(['truc/1/player', first])
    const seed = Buffer.from(hkdfSync('sha256', this.keeping.kept.master, Buffer.alloc(0), info, 32))
    return { seed, pk: signingKeyOf(seed) }
  }

  enter({ name, seats = [] }) {
    this.line.isOpen = true
    this.seat.name = name     // another than asked for, where somebody is called alike
    const held = seats.find(({ table }) => this.table === null || table === this.table)
    if (held) Object.assign(this, { table: held.table, number: held.seat, isBack: true })
    const match = held?.match ?? this.seat.mid
    if (match) this.follow(match)
    else this.findSeat()
  }

  findSeat() {
    if (this.table !== null) this.line.ask('join', { table: this.table })
    else this.line.ask('seek' in this.caps ? 'seek' : 'create', NEW_TABLE)
  }

  sitDown({ table = this.table, seat: number = this.number }) {
    Object.assign(this, { table, number })
    console.log(`table ${table}`)
    this.line.ask('ready', { table })
  }

  // Terms are signed once they have been compared with the table, which may be shown after them.
  agree(terms, shown) {
    Object.assign(this, { terms, shown })
    if (terms === null || shown === null) return
    this.terms = null
    this.hand(null, this.seat.agree(terms, this.number, shown))
  }

  // Terms may be dropped; then everybody has to say again that they are ready.
  takeTable(state) {
    this.agree(this.terms, state)
    const isWaiting = ['open', 'over'].includes(state.state) && this.seat.ledger === null
    if (state.state === 'playing' && this.isBack && this.seat.ledger === null) this.follow(state.match)
    else if (isWaiting && state.seats[this.number]?.ready === false && !this.line.isAsking('ready')) {
      this.line.ask('ready', { table: this.table })
    }
  }

  isOf({ match }) {
    return this.seat.ledger !== null && this.seat.mid.equals(match)
  }

  begin(setup) {
    if (this.isOf(setup)) return
    this.seat.begin(setup, this.shown)
    console.log(`level ${this.seat.setup.level}`)
  }

  // Have the records sent that are missing, or all of them and the setup.
  follow(match) {
    const next = this.isOf({ match }) ? this.seat.next : -1
    if (!this.line.isAsking('resume')) this.line.ask('resume', { table: this.table, match, next })
  }

  reached(k) {
    this.seat.reached(k)
    return this.handDue()
  }

  takeRecord(record) {
    if (!this.isOf(record) || record.k > this.seat.next) return this.follow(record.match)
    const isNew = record.k === this.seat.next
    this.seat.take(record)
    if (!isNew) return
    this.failures = 0
    return this.seat.isDone ? this.end() : this.handDue()
  }

  end() {
    this.write(this.seat.known(), this.out)
    const { reason, winner } = this.seat.ledger.result
    return winner === null ? reason : `${reason} by side ${winner}`
  }

  // Once on a connection; and while old records are sent again nothing is signed.
  handDue() {
    if (this.line.isAsking('resume')) return
    if (this.seat.isDone) return this.end()
    const due = this.seat.due()
    if (due === null || this.handed.has(due.sig.toString('hex'))) return
    this.handed.add(due.sig.toString('hex'))
    this.hand(this.seat.mid, due)
  }

  hand(match, { body, sig }) {
    this.line.ask('act', { table: this.table, ...(match && { match }), body, sig })
  }

  takeOptions(options) {
    if (!this.isOf(options) || options.at > this.seat.next) return this.follow(options.match)
    if (options.at === this.seat.next) this.handChoice(this.seat.act(options))
  }

  handChoice(act) {
    if (act !== null) this.hand(this.seat.mid, act)
  }

  // An act that came too late does not matter: options come again. One refused by signature may be made otherwise.
  takeError(error, t, fields, line = this.line) {
    if (t === 'act' && error.refuse && this.seat.ledger !== null) {
      this.seat.refused(error.refuse, fields.body)
      this.handChoice(this.seat.choose())
    } else if (error.retry_after_ms) {
      setTimeout(() => line === this.line && line.ask(t, fields), error.retry_after_ms)
    } else if (t === 'resume' && error.code === 'no_such_match') {
      this.findSeat()
    } else if ([...SIT, 'resume'].includes(t) || error.code === 'seat_gone') {
      throw new Stopped(error.msg)
    } else if (error.code === 'bad_position') {
      throw new Error(error.msg)     // from the last position on, anew
    }
  }

  write(transcript, file) {
    if (transcript === null || this.out === undefined) return
    const items = [transcript.doc, ...transcript.raws.map(({ signer, body, sig }) => encode([signer, body, sig]))]
    const lengths = items.map(({ length }) => Buffer.from(length.toString(16).padStart(8, '0'), 'hex'))
    writeFileSync(file, Buffer.concat([TRANSCRIPT, ...items.flatMap((item, i) => [lengths[i], item])]))
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true, options: { keep: { type: 'string', default: 'keyed.json' }, out: { type: 'string' } }
})
await run(new Player(placeOf(positionals), new Keeping(values.keep), values.out))
