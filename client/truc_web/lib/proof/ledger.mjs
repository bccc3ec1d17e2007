// Section 11, "Order": the records of a match, one after the other, each against all before it. Begin to read at `take`.
//
// The rules of the game are played along, as far as cards are known (C20, C22 to C25).

import { isBytes, toHex } from '../bytes.mjs'
import { attest, isAdmissible, signatureHolds } from './keys.mjs'
import { ACTS, SERVER, broughtBy, isAt, movesQuiet, must, nextHead, readRecord } from './records.mjs'
import { CALLS, allRoles, silentSeats } from './calls.mjs'
import { HANDS, openCard } from './hands.mjs'
import { ROWS, RULINGS } from './rulings.mjs'
import { END } from './end.mjs'

/** @typedef {import('./records.mjs').Raw} Raw */
/** @typedef {import('./records.mjs').TypedRecord} TypedRecord */
/** @typedef {import('./records.mjs').Place} Place */

/**
 * What differs between the modes of a table.
 *
 * @typedef {object} Mode
 * @property {string[]} never kinds of records that stand nowhere in it (C11)
 * @property {Record<string, string[]>} also phases in which a kind may stand besides those of section 5
 * @property {Record<string, (ledger: Ledger, fields: any) => void>} take what step 3 asks of each kind of record
 * @property {import('./records.mjs').Acts} acts
 * @property {import('./rulings.mjs').Row[]} rulings but for moves
 * @property {(rules: Rules) => Rules} rulesOf the rules of its games
 * @property {(ledger: Ledger) => number[]} rolesOf the roles that the call at hand names
 * @property {(ledger: Ledger) => number[]} missing the seats that a void has to name now
 * @property {(ledger: Ledger) => string[]} voidReasons
 * @property {(ledger: Ledger) => boolean} isOpened whether a close or void carries the server's link
 * @property {(ledger: Ledger, seat: number, opening: import('./records.mjs').Opening) => void} openCard
 * @property {(ledger: Ledger, record: TypedRecord, culprit: number | null) => void} checkDue
 * @property {((ledger: Ledger, raw: Raw) => Promise<void>) | null} prepare computes ahead what a record will be asked for
 */

/** @typedef {import('./setup.mjs').Rules} Rules */

/** Who has cheated in mode blind, as a link shows it, or all of them, or the cards. @typedef {{ seat: number, kind: 'cheat' | 'false' }} Exposed */

/** @type {Mode} */
const DEALT = {
  never: ['mask', 'lock', 'keys', 'lend', 'garbled'],
  also: {},
  take: { ...CALLS, ...HANDS, ...RULINGS, ...END },
  acts: ACTS,
  rulings: ROWS,
  rulesOf: (rules) => rules,
  rolesOf: allRoles,
  missing: silentSeats,
  voidReasons: () => ['silent', 'link'],
  isOpened: (ledger) => ledger.rules.reveal === 'hand',
  openCard,
  checkDue,
  prepare: null
}

// What has to follow: the open of a card played blind, after the first open at the end of a hand the others and the close,
// shares (C23). A hand that has won the match is closed (C24).
/** @param {Ledger} ledger @param {TypedRecord} record @param {number | null} culprit */
function checkDue(ledger, { kind, fields }, culprit) {
  const { hand } = ledger
  if (hand?.blindCard) ledger.must(kind === 'open', 'C23', culprit)
  if (hand?.lastOpened != null) ledger.must(kind === 'open' || kind === 'close', 'C23', culprit)
  if (hand && hand.shares.length > 0) ledger.must(kind === 'share', 'C23', culprit)
  const isShow = (kind === 'act' || kind === 'proxy') && fields.kind === 'show'
  const isWon = ledger.phase === 'hand' && ledger.openHand.reading.state.winner !== null
  ledger.must(!isWon || isShow || kind === 'open' || kind === 'close', 'C24', culprit)
}

/** A seat as it stands. @typedef {import('./setup.mjs').SetSeat & { rekeys: number, ruled: number }} Seat */

/**
 * A deal as its record tells it, with the slots of each seat that were opened since.
 *
 * @typedef {{ d: number, leaves: Uint8Array[][], up: number[], opened: Set<number>[] }} Deal
 */

/**
 * A hand; `dealt` are its deals as the seed makes them, once all links are known.
 *
 * @typedef {object} Hand
 * @property {number} j
 * @property {number} dealer
 * @property {number} ncards
 * @property {number} cut
 * @property {Map<number, Uint8Array>} links
 * @property {Deal[]} deals
 * @property {Set<number>} open cards
 * @property {boolean} isBlind
 * @property {{ seat: number, slot: number } | null} blindCard that is to be opened next
 * @property {number | null} lastOpened seat, at the end of the hand
 * @property {[seat: number, slots: number[]][]} shown what was opened then
 * @property {[giver: number, receiver: number][]} shares that are due
 * @property {Reading} reading of the rules
 * @property {{ score: number[][], reason: string } | null} closed what its close says
 * @property {import('./deals.mjs').Dealt[]} [dealt]
 * @property {boolean} isReplayed once a close or an end has passed for which all its cards allow all its moves
 */

/** @typedef {import('../rules/reading.mjs').Reading} Reading */

/**
 * A box of a deal or share: `x` is the key of the receiver, null where there is none and the box is empty.
 *
 * @typedef {{ k: number, hand: Hand, d: number, owner: number, receiver: number, x: Uint8Array | null, box: Uint8Array,
 *   info: import('./encoding.mjs').Value }} SealedBox
 */

/** Give each record to `attest`, then to `take`; after it `phase` and the other fields say how the match stands. */
export class Ledger {
  /** @param {import('./setup.mjs').Setup} setup that is done @param {Mode} [mode] of its table */
  constructor({ terms, opts, rules, used, mid, server, seats, engine }, mode = DEALT) {
    this.mode = mode
    this.engine = engine
    /** @type {import('../rules/state.mjs').State | null} */
    this.position = null                 // by the rules, before the next deal or at the end
    this.terms = terms
    this.opts = opts
    this.rules = mode.rulesOf(rules)
    this.used = used
    this.mid = mid
    this.server = server
    /** @type {Seat[]} */
    this.seats = seats.map((seat) => ({ ...seat, rekeys: 0, ruled: 0 }))
    /** @type {TypedRecord[]} */
    this.records = []
    this.k = 0
    this.head = mid
    this.quiet = { mid, k: 0, head: mid }     // k0 and its head, which releases and acks carry
    /** @type {'between' | 'called' | 'hand' | 'over' | 'ended'} */
    this.phase = 'between'
    this.index = 0                       // the open index, or the next one if none is open
    this.next = { dealer: 0, ncards: 0, cut: 0 }
    /** @type {{ seat: number, kinds: string[] } | null} */
    this.decider = null                  // who decides before the call, and what
    this.drawn = false
    /** @type {number[]} */
    this.roles = []                      // that the call named, and what they have released since
    /** @type {Map<number, Uint8Array>} */
    this.links = new Map()
    this.score = [[0, 0, 0], [0, 0, 0]]  // games, units, points of each side
    /** @type {Hand | null} */
    this.hand = null                     // the open hand
    /** @type {Hand[]} */
    this.hands = []
    /** @type {SealedBox[]} */
    this.sealed = []                     // every box of a deal or share
    this.voids = 0
    /** @type {{ missing: Set<number>, isAtDraw: boolean, isBeyond: boolean } | null} */
    this.lastVoid = null                 // until the next call
    this.paused = false
    /** @type {Set<number>} */
    this.askedPause = new Set()          // since the last close
    /** @type {Set<number>} */
    this.asking = new Set()              // for a pause, or in one for its end; since the last close, pause or resume
    /** @type {Set<number>} */
    this.acked = new Set()
    /** @type {Map<string, number>} */
    this.newcomers = new Map()           // the key of each substitute, with the position of its sub
    this.newestSub = -1
    this.signedByServer = -1             // the newest position that the server signed
    this.covered = 0                     // how many records are covered by a signature that counts
    /** @type {{ k: number, what: string, text: string }[]} */
    this.story = []                      // rulings, voids and proxies, for the verdict
    /** @type {{ winner: number | null, reason: string } | null} */
    this.won = null                      // once that is decided
    /** @type {{ winner: number | null, reason: string, score: number[][] } | null} */
    this.result = null                   // the same as the end says it
    /** @type {import('../blind/sealing.mjs').Sealing | null} */
    this.sealing = null                  // in mode blind: the steps of the open index
    /** @type {{ seat: number | null } | null} */
    this.garbled = null                  // there: that its hand is, and who claims it, null where the records show it
    /** @type {Exposed | null} */
    this.exposed = null                  // there: who has cheated
    /** @type {{ j: number, seats: number[] }[]} */
    this.unopened = []                   // there: the deals that were never opened, and by whom
    /** @type {number | null} */
    this.blame = null                    // for the record that is being taken
    /** @type {Map<string, TypedRecord> | null} */
    this.signed = null                   // what evidence.mjs looks up
  }

  // The blame is the signer's, unless a line of `take` says otherwise.
  /**
   * @param {boolean} condition
   * @param {string} check
   * @param {number | null} [culprit]
   * @returns {asserts condition}
   */
  must(condition, check, culprit = this.blame) {
    must(condition, check, culprit)
  }

  /** Have the signature of a record checked ahead, so that `take` need not wait for it. @param {Raw} raw */
  async attest(raw) {
    const key = broughtBy(raw) ?? this.keyOf(raw.signer)
    if (key) await attest(key, raw.body, raw.sig)
    await this.mode.prepare?.(this, raw)
  }

  /** @param {Raw} raw */
  take(raw) {
    const record = readRecord(raw, (value) => this.isSignedHere(raw, value))
    const { kind, bound, fields } = record
    record.key = this.checkSigner(record)
    // Anybody can write a proxy, and can make the key of a sub; the server vouches for it by its next record.
    this.blame = kind === 'proxy' || kind === 'sub' || this.isUnknown(record.key) ? null : raw.signer

    this.must(bound !== '', 'C11', null)
    this.must(isAt(fields, bound === 'P' ? this : this.quiet), 'C10', null)
    this.must(this.mayStand(record), 'C11')
    this.must(this.hasSeats([fields.seat, fields.giver, fields.receiver]), 'C12')
    this.checkDue(record)
    if (this.paused) this.must(['act', 'proxy', 'rule', 'resign', 'open', 'close'].includes(kind), 'C29')

    if (kind === 'proxy') this.must(this.keyOf(fields.seat + 1) === null, 'C21')
    if (fields.j !== undefined) this.must(fields.j === this.index, 'C12')
    // marked for C34 and C35: what closed cards may decide convicts nobody (specification.md, 14)
    const isDecision = this.phase === 'hand' && (kind === 'act' || kind === 'resign')
    if (isDecision && this.openHand.reading.hangsOnCards(fields.seat, fields.kind ?? kind)) record.hangsOn = this.hand
    this.mode.take[kind](this, fields)
    this.advance(record)
  }

  // Whether a body that has no shape (C2) is bound to this very place, and validly signed under a key in force.
  /** @param {Raw} raw @param {any} value */
  isSignedHere({ signer, body, sig }, value) {
    const [, mid, k, head] = Array.isArray(value) ? value : []
    const isBound = isBytes(mid) && isBytes(head) &&
      [this, this.quiet].some((place) => isAt({ mid, k, head }, place))
    const key = this.keyOf(signer)
    return isBound && key != null && signatureHolds(key, body, sig) && !this.isUnknown(key)
  }

  // A key that a sub has brought, and no record of the server has followed.
  /** @param {Uint8Array | null} key */
  isUnknown(key) {
    return key !== null && (this.newcomers.get(toHex(key)) ?? -1) > this.signedByServer
  }

  /**
   * Step 1, after C1 and C2: C12, C21, C4, C3.
   *
   * @param {TypedRecord} record
   * @returns {Uint8Array | null} the key that signed
   */
  checkSigner({ kind, signer, body, sig, fields }) {
    this.must(signer <= this.seats.length, 'C12', null)
    if (kind === 'proxy') return null
    const key = kind === 'sub' ? fields.pk : this.keyOf(signer)
    this.must(key !== null, 'C21', null)
    if (kind === 'sub') this.must(isAdmissible(key), 'C4', null)
    this.must(signatureHolds(key, body, sig), 'C3', null)
    return key
  }

  /** Whether the phase is one of the record's. @param {TypedRecord} record */
  mayStand({ kind, phases }) {
    const { never, also } = this.mode
    return !never.includes(kind) && (phases.includes(this.phase) || Boolean(also[kind]?.includes(this.phase)))
  }

  // What has to follow: a forfeit or the like after a void (C26), and what the mode asks for. A seat that signed something
  // else may not have known.
  /** @param {TypedRecord} record */
  checkDue(record) {
    const { kind, signer, fields } = record
    const culprit = signer === SERVER ? this.blame : null
    const endsMatch = kind === 'rule' && ['forfeit', 'abandon'].includes(fields.ruling)
    const { lastVoid: due } = this
    const mustEnd = due !== null && (due.isBeyond || (this.opts.gone === 0 && !due.isAtDraw))
    this.must(!mustEnd || endsMatch, 'C26', culprit)
    this.mode.checkDue(this, record, culprit)
  }

  /** @param {TypedRecord} record */
  advance(record) {
    const { kind, signer } = record
    this.head = nextHead(this.head, record)
    record.after = this.head
    this.k += 1
    if (movesQuiet(kind)) this.quiet = { mid: this.mid, k: this.k, head: this.head }
    if (kind === 'sub') this.newestSub = this.k - 1
    if (kind !== 'proxy' && signer === SERVER) this.signedByServer = this.k - 1
    if (kind !== 'proxy' && this.newestSub <= this.signedByServer) this.covered = this.k
    this.records.push(record)
  }

  /** @param {number} role @returns {Uint8Array | null} */
  keyOf(role) {
    return role === SERVER ? this.server.pk : this.seats[role - 1]?.pk ?? null
  }

  /** @param {number} role that has one */
  chainOf(role) {
    const chain = role === SERVER ? this.server.chains.at(-1) : this.seats[role - 1].chain
    return /** @type {import('./chains.mjs').Chain} */ (chain)
  }

  /** The hand that is open, in the phases that have one. */
  get openHand() {
    return /** @type {Hand} */ (this.hand)
  }

  /** Its newest deal. */
  get openDeal() {
    return /** @type {Deal} */ (this.openHand.deals.at(-1))
  }

  /** @param {(number | null | undefined)[]} seats */
  hasSeats(seats) {
    return seats.every((seat) => seat == null || seat < this.seats.length)
  }

  /** @param {string} what @param {string} text */
  tell(what, text) {
    this.story.push({ k: this.k, what, text })
  }

  /** C14: the link that this index opens. @param {number} role @param {Uint8Array} link */
  openLink(role, link) {
    const chain = this.chainOf(role)
    this.must(chain.fits(this.index + 1, link), 'C14')
    chain.learn(this.index + 1, link)
    this.links.set(role, link)
  }

  /** C14: the server's link in close and void, where they carry it. @param {Uint8Array | null} link */
  openServerLink(link) {
    this.must((link !== null) === this.mode.isOpened(this), 'C14')
    if (link !== null) this.openLink(SERVER, link)
  }

  /** The next index; a hand will be called that this seat deals. @param {number} dealer */
  nextHand(dealer) {
    this.index += 1
    this.next = { dealer, ncards: 3, cut: 0 }
    const cutter = (dealer + this.seats.length - 1) % this.seats.length
    this.decider = this.rules.shortDeal ? { seat: cutter, kinds: ['cut', 'tap'] } : null
  }

  /** The match is over. @param {number | null} winner @param {string} reason */
  finish(winner, reason) {
    this.won = { winner, reason }
    this.lastVoid = null
    this.paused = false
    this.phase = 'over'
  }

  /** Whether a seat may decide this now, as far as cards are known here. @param {number} seat @param {string} kind @param {any} args */
  allows(seat, kind, args) {
    if (this.phase === 'between') return this.decider?.seat === seat && this.decider.kinds.includes(kind)
    return this.phase === 'hand' && this.openHand.reading.allows(seat, kind, args)
  }

  /** @param {number} seat @param {string} reason */
  giveUp(seat, reason) {
    this.finish(1 - seat % 2, reason)
  }
}
