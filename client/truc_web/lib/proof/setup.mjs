// Section 3: the setup of a match (C4 to C8), from the table record to the match record.

import { same, toHex } from '../bytes.mjs'
import { Malformed, decode, isUtf8, sha256 } from './encoding.mjs'
import { attest, isAdmissible, isSoundBoxKey, signatureHolds } from './keys.mjs'
import { Chain } from './chains.mjs'
import { SERVER, broughtBy, keyIn, must, readRecord } from './records.mjs'

/** @typedef {import('./records.mjs').Raw} Raw */
/** @typedef {import('./records.mjs').TypedRecord} TypedRecord */

const OPTS = {
  decision_ms: 30000, bank_ms: 120000, release_ms: 60000, voids: 1, gone: 0, guests: 0, rekeys: 3, pause_ms: 600000,
  spectators: 1, gone_after: 3
}

/** The terms of a table that are numbers, by name. @typedef {typeof OPTS} Opts */

/**
 * A seat as the setup leaves it; a guest has no key and no chain, and may have no x.
 *
 * @typedef {{ pk: Uint8Array | null, x: Uint8Array | null, chain: Chain | null }} SetSeat
 */

/** The server, with every chain it has had. @typedef {{ pk: Uint8Array, x: Uint8Array, chains: Chain[] }} Server */

/** The rules of the games, which whoever begins a match has loaded. @typedef {typeof import('../rules/index.mjs')} Engine */

/** @typedef {import('../rules/document.mjs').Rules} Rules */

/** By mode: what else must be so at its tables (C5). @type {Record<string, (rules: Rules, opts: Opts) => boolean>} */
const MODES = {
  dealt: () => true,
  blind: ({ reveal, flor, signals }, { guests }) =>
    reveal === 'hand' && flor === null && (signals === null || signals.truth === 'free') && guests === 0
}

// The keys, anchors and box keys that the match has ever used, and whether the server brought them (C7).
class Used {
  constructor() {
    /** @type {Map<string, boolean>} */
    this.brought = new Map()
  }

  /**
   * `culprit` is to blame for an x that is not sound, or the server's own; nobody knows which of two others copied.
   *
   * @param {{ pk?: Uint8Array, anchor?: Uint8Array, x?: Uint8Array | null }} brought
   * @param {number | null} [culprit]
   * @param {boolean} [isServers]
   */
  claim({ pk, anchor, x }, culprit = null, isServers = false) {
    must(x == null || isSoundBoxKey(x), 'C7', culprit)
    for (const [what, value] of Object.entries({ pk, anchor, x })) {
      if (value == null) continue
      const name = what + toHex(value)
      must(!this.brought.has(name), 'C7', this.brought.get(name) ? culprit : null)
      this.brought.set(name, isServers)
    }
  }

  /** Whether the anchor or the box key of a chain was brought before. @param {{ anchor: Uint8Array, x: Uint8Array }} chain */
  has({ anchor, x }) {
    return this.brought.has(`anchor${toHex(anchor)}`) || this.brought.has(`x${toHex(x)}`)
  }
}

/** The records before the first of the match: give each to `attest`, then `take`, until it is `done`. */
export class Setup {
  /**
   * @param {Uint8Array} document the rules
   * @param {Engine} engine that plays them
   * @param {string[]} [modes] that whoever reads this knows
   */
  constructor(document, engine, modes = ['dealt']) {
    this.modes = modes
    this.document = document
    this.engine = engine
    this.used = new Used()
    /** @type {TypedRecord[]} */
    this.records = []
    /** @type {SetSeat[]} */
    this.seats = []
    this.done = false
    // What the table record tells, and the match record: there from then on.
    /** @type {any} */
    this.terms = undefined
    this.th = /** @type {Uint8Array} */ (/** @type {unknown} */ (undefined))
    this.rules = /** @type {Rules} */ (/** @type {unknown} */ (undefined))
    this.opts = OPTS
    this.server = /** @type {Server} */ (/** @type {unknown} */ (undefined))
    this.mid = /** @type {Uint8Array} */ (/** @type {unknown} */ (undefined))
    /** @type {'A' | 'B' | 'C' | undefined} */
    this.level = undefined
  }

  /** Have the signature of a record checked ahead, so that `take` need not wait for it. @param {Raw} raw */
  async attest(raw) {
    const key = broughtBy(raw) ?? this.server?.pk
    if (key) await attest(key, raw.body, raw.sig)
  }

  /** C1, C2, C11, C4, C3, then C5 or C6 or C8, then C7. @param {Raw} raw */
  take(raw) {
    const record = readRecord(raw)
    must(this.expects(record.kind), 'C11', null)
    const own = keyIn(record)
    if (own) must(isAdmissible(own), 'C4', null)
    must(signatureHolds(own ?? this.server.pk, record.body, record.sig), 'C3', null)
    const kind = /** @type {'table' | 'seat' | 'guest' | 'match'} */ (record.kind)
    this[kind](record.fields, record)
    this.records.push(record)
  }

  /** @param {string} kind */
  expects(kind) {
    if (this.terms === undefined) return kind === 'table'
    if (this.seats.length === this.terms.seats) return kind === 'match'
    return kind === 'seat' || (kind === 'guest' && this.terms.mode === 'dealt')
  }

  /** @param {any} fields @param {TypedRecord} record */
  table(fields, record) {
    must(same(sha256(this.document), fields.rules), 'C5', null)     // anybody could have put another document there
    try {
      this.rules = this.engine.readRules(decode(this.document))
    } catch (error) {
      if (!(error instanceof Malformed || error instanceof this.engine.BadDocument)) throw error
      must(false, 'C5', SERVER)
    }
    const { rules } = this
    // what an older server leaves out has its default (specification.md, 13)
    const filled = Object.entries(OPTS).map(([name, otherwise], at) => [name, fields.opts[at] ?? otherwise])
    this.opts = /** @type {Opts} */ (Object.fromEntries(filled))
    const { deck, seats, links } = fields
    const fits = deck === rules.deck && deck >= 6 && deck <= 128 && deck >= 3 * seats + rules.up &&
      rules.players.includes(seats) && links >= 1 && links <= 4096 && fields.policy === rules.reveal &&
      this.modes.includes(fields.mode) && MODES[fields.mode](rules, this.opts) && fields.opts.length <= filled.length &&
      this.opts.gone <= 2 && this.opts.guests <= fields.seats && this.opts.rekeys <= 100 && isUtf8(fields.name)
    must(fits, 'C5', SERVER)
    this.used.claim({ ...fields, pk: fields.spk }, SERVER, true)
    this.terms = fields
    this.th = sha256(record.body)
    const chain = new Chain(fields.spk, fields.tn, 0, links, fields.anchor)
    this.server = { pk: fields.spk, x: fields.x, chains: [chain] }
  }

  // C6. Nobody is to blame for a seat record, which any key can sign, nor for what is of another table or place; but for
  // what would do in no place of this table.
  /** @param {any} fields @param {number | null} culprit */
  checkPlace(fields, culprit) {
    must(same(fields.th, this.th), 'C6', null)
    must(fields.seat < this.terms.seats && isUtf8(fields.name), 'C6', culprit)
    must(fields.seat === this.seats.length, 'C6', null)
  }

  /** @param {any} fields */
  seat(fields) {
    this.checkPlace(fields, null)
    this.used.claim(fields)
    const { tn, links } = this.terms
    this.seats.push({ pk: fields.pk, x: fields.x, chain: new Chain(fields.pk, tn, 0, links, fields.anchor) })
  }

  /** @param {any} fields */
  guest(fields) {
    this.checkPlace(fields, SERVER)
    must(this.seats.filter((seat) => seat.pk === null).length < this.opts.guests, 'C6', SERVER)
    this.used.claim(fields, SERVER)
    this.seats.push({ pk: null, x: fields.x, chain: null })
  }

  // C8. Who writes the file can exchange a seat record for another of the same seat: nobody is to blame.
  /** @param {any} fields @param {TypedRecord} record */
  match(fields, record) {
    const hashes = this.records.slice(1).map(({ body }) => sha256(body))
    /** @type {Uint8Array[]} */
    const seats = fields.seats
    const isSame = seats.length === hashes.length && seats.every((hash, i) => same(hash, hashes[i]))
    must(isSame && same(fields.th, this.th), 'C8', null)
    this.mid = sha256(record.body)
    this.done = true
    const keyed = this.seats.filter((seat) => seat.pk !== null).length
    this.level = keyed === this.seats.length ? 'A' : keyed > 0 ? 'B' : 'C'
  }
}
