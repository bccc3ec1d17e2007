// Section 11, "Order": the records of a match, one after the other, each against all before it. Begin to read at `take`.
//
// The rules of the game are not played here: what they alone decide is believed, or read off the records where a
// comment says so.

import { isBytes, toHex } from '../bytes.mjs'
import { attest, isAdmissible, signatureHolds } from './keys.mjs'
import { SERVER, broughtBy, isAt, movesQuiet, must, nextHead, readRecord } from './records.mjs'
import { CALLS } from './calls.mjs'
import { HANDS } from './hands.mjs'
import { RULINGS } from './rulings.mjs'
import { END } from './end.mjs'

// What step 3 asks of each kind of record: a function of the ledger and the fields.
const TAKE = { ...CALLS, ...HANDS, ...RULINGS, ...END }

/** Give each record to `attest`, then to `take`; after it `phase` and the other fields say how the match stands. */
export class Ledger {
  /** @param {import('./setup.mjs').Setup} setup that is done */
  constructor({ terms, opts, rules, used, mid, server, seats }) {
    Object.assign(this, { terms, opts, rules, used, mid, server })
    this.seats = seats.map((seat) => ({ ...seat, rekeys: 0, ruled: 0 }))
    this.records = []
    this.k = 0
    this.head = mid
    this.quiet = { mid, k: 0, head: mid }     // k0 and its head, which releases and acks carry
    this.phase = 'between'
    this.index = 0                       // the open index, or the next one if none is open
    this.next = { dealer: 0, ncards: 0, cut: 0 }
    this.decider = null                  // who decides before the call, and what: { seat, kinds }
    this.drawn = false
    this.games = [0, 0]                  // of each side, as the last close says
    this.points = [0, 0]
    this.hand = null                     // the open hand
    this.hands = []
    this.sealed = []                     // every box of a deal or share
    this.voids = 0
    this.lastVoid = null                 // until the next call
    this.paused = false
    this.askedPause = new Set()          // since the last close
    this.asking = new Set()              // for a pause, or in one for its end; since the last close, pause or resume
    this.acked = new Set()
    this.newcomers = new Map()           // the key of each substitute, with the position of its sub
    this.newestSub = -1
    this.signedByServer = -1             // the newest position that the server signed
    this.covered = 0                     // how many records are covered by a signature that counts
    this.story = []                      // rulings, voids and proxies, for the verdict
    this.won = null                      // { winner, reason }, once that is decided
    this.result = null                   // the same as the end says it, with the score
  }

  // The blame is the signer's, unless a line of `take` says otherwise.
  must(condition, check, culprit = this.blame) {
    must(condition, check, culprit)
  }

  /** Have the signature of a record checked ahead, so that `take` need not wait for it. */
  async attest(raw) {
    const key = broughtBy(raw) ?? this.keyOf(raw.signer)
    if (key) await attest(key, raw.body, raw.sig)
  }

  /** @param {{ signer: number, body: Uint8Array, sig: Uint8Array }} raw */
  take(raw) {
    const record = readRecord(raw, (value) => this.isSignedHere(raw, value))
    const { kind, bound, fields } = record
    record.key = this.checkSigner(record)
    // Anybody can write a proxy, and can make the key of a sub; the server vouches for it by its next record.
    this.blame = kind === 'proxy' || kind === 'sub' || this.isUnknown(record.key) ? null : raw.signer

    this.must(bound !== '', 'C11', null)
    this.must(isAt(fields, bound === 'P' ? this : this.quiet), 'C10', null)
    this.must(record.phases.includes(this.phase), 'C11')
    this.must(this.hasSeats([fields.seat, fields.giver, fields.receiver]), 'C12')
    this.checkDue(record)
    if (this.paused) this.must(['act', 'proxy', 'rule', 'resign', 'open', 'close'].includes(kind), 'C29')

    if (kind === 'proxy') this.must(this.keyOf(fields.seat + 1) === null, 'C21')
    if (fields.j !== undefined) this.must(fields.j === this.index, 'C12')
    TAKE[kind](this, fields)
    this.advance(record)
  }

  // Whether a body that has no shape (C2) is bound to this very place, and validly signed under a key in force.
  isSignedHere({ signer, body, sig }, value) {
    const [, mid, k, head] = Array.isArray(value) ? value : []
    const isBound = isBytes(mid) && isBytes(head) &&
      [this, this.quiet].some((place) => isAt({ mid, k, head }, place))
    const key = this.keyOf(signer)
    return isBound && Boolean(key) && signatureHolds(key, body, sig) && !this.isUnknown(key)
  }

  // A key that a sub has brought, and no record of the server has followed.
  isUnknown(key) {
    return key !== null && this.newcomers.get(toHex(key)) > this.signedByServer
  }

  // Step 1, after C1 and C2: C12, C21, C4, C3. Returns the key that signed.
  checkSigner({ kind, signer, body, sig, fields }) {
    this.must(signer <= this.seats.length, 'C12', null)
    if (kind === 'proxy') return null
    const key = kind === 'sub' ? fields.pk : this.keyOf(signer)
    this.must(key !== null, 'C21', null)
    if (kind === 'sub') this.must(isAdmissible(key), 'C4', null)
    this.must(signatureHolds(key, body, sig), 'C3', null)
    return key
  }

  // What has to follow: a forfeit or the like after a void (C26), the open of a card played blind, after the first open
  // at the end of a hand the others and the close (C23). A seat that signed something else may not have known.
  checkDue({ kind, signer, fields }) {
    const culprit = signer === SERVER ? this.blame : null
    const endsMatch = kind === 'rule' && ['forfeit', 'abandon'].includes(fields.ruling)
    const { lastVoid: due, hand } = this
    const mustEnd = due !== null && (due.isBeyond || (this.opts.gone === 0 && !due.isAtDraw))
    this.must(!mustEnd || endsMatch, 'C26', culprit)
    if (hand?.blindCard) this.must(kind === 'open', 'C23', culprit)
    if (hand?.lastOpened != null) this.must(kind === 'open' || kind === 'close', 'C23', culprit)
  }

  advance(record) {
    const { kind, signer } = record
    this.head = record.after = nextHead(this.head, record)
    this.k += 1
    if (movesQuiet(kind)) this.quiet = { mid: this.mid, k: this.k, head: this.head }
    if (kind === 'sub') this.newestSub = this.k - 1
    if (kind !== 'proxy' && signer === SERVER) this.signedByServer = this.k - 1
    if (kind !== 'proxy' && this.newestSub <= this.signedByServer) this.covered = this.k
    this.records.push(record)
  }

  keyOf(role) {
    return role === SERVER ? this.server.pk : this.seats[role - 1]?.pk
  }

  chainOf(role) {
    return role === SERVER ? this.server.chains.at(-1) : this.seats[role - 1].chain
  }

  hasSeats(seats) {
    return seats.every((seat) => seat == null || seat < this.seats.length)
  }

  tell(what, text) {
    this.story.push({ k: this.k, what, text })
  }

  // C14: the link that this index opens.
  openLink(role, link) {
    const chain = this.chainOf(role)
    this.must(chain.fits(this.index + 1, link), 'C14')
    chain.learn(this.index + 1, link)
    this.links.set(role, link)
  }

  // C14: the server's link in close and void, under `hand` only.
  openServerLink(link) {
    this.must((link !== null) === (this.rules.reveal === 'hand'), 'C14')
    if (link !== null) this.openLink(SERVER, link)
  }

  // The next index; a hand will be called that this seat deals.
  nextHand(dealer) {
    this.index += 1
    this.next = { dealer, ncards: 3, cut: 0 }
    const cutter = (dealer + this.seats.length - 1) % this.seats.length
    this.decider = this.rules.shortDeal ? { seat: cutter, kinds: ['cut', 'tap'] } : null
  }

  // The match is over.
  finish(winner, reason) {
    this.won = { winner, reason }
    this.lastVoid = null
    this.paused = false
    this.phase = 'over'
  }

  giveUp(seat, reason) {
    this.finish(1 - seat % 2, reason)
  }
}
