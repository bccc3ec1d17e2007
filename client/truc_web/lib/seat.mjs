// What a seat with a key checks and signs in one match (docs/fairness/specification.md, section 13). Every record goes
// through the ledger of the verifier; what fails there, or here, throws its CheckFailed or Malformed, and nothing is
// signed after it.
//
// Of each table record, by th, is kept { tn, pk, seat, mid, stopped, accepted, signed, refused, refusals, chains }: the
// highest { k, head } accepted when something was signed; each record [body, sig] by what it is for, as `act 12`; the
// hashes of refused bodies, and the server's word for it; of each chain { first, root, anchor, secret, x, counter }; in mode
// blind also the hashes of the own steps in hands that are over.

import { bigEndian, same, toHex, utf8 } from './bytes.mjs'
import { Stopped } from './line.mjs'
import { readOptions } from './offered.mjs'
import { ownOptions } from './own_options.mjs'
import { randomBytes } from './platform.mjs'
import { MODES, ledgerOf } from './proof/audit.mjs'
import { boxKey, counterOf, handInfo, openHand, openPrivate, openUp, sealUp, shareInfo } from './proof/boxes.mjs'
import { hashDown } from './proof/chains.mjs'
import { leafOf } from './proof/deals.mjs'
import { Malformed, decode, encode, sha256 } from './proof/encoding.mjs'
import { fingerprint } from './proof/handshake.mjs'
import { agree, attest, newBoxKeyOf, signatureHolds } from './proof/keys.mjs'
import { CheckFailed, SERVER, must, wordOfServer } from './proof/records.mjs'
import { Setup } from './proof/setup.mjs'
import { shape } from './proof/shapes.mjs'

/**
 * An option: its kind, its args, what it says to people, and hints.
 *
 * @typedef {[kind: string, args: unknown[], line: string, hints: [string, number | string][]]} Option
 */

/** @typedef {import('./proof/ledger.mjs').Ledger} Ledger */
/** @typedef {import('./proof/encoding.mjs').Value} Value */
/** @typedef {import('./proof/boxes.mjs').HeldCard} HeldCard */
/** @typedef {import('./proof/records.mjs').Raw} Raw */
/** @typedef {import('./proof/handshake.mjs').Pin} Pin */
/**
 * A record as a message carries it: signer, body, signature.
 *
 * @typedef {[signer: number, body: Uint8Array, sig: Uint8Array]} Sent
 */
/** What is to be sent as an act. @typedef {{ body: Uint8Array, sig: Uint8Array }} Signed */
/**
 * @typedef {{ first: number, root: Uint8Array, anchor: Uint8Array, secret: Uint8Array, x: Uint8Array, counter: string
 * }} OwnChain
 */

/**
 * What is kept of a table, as said above.
 *
 * @typedef {object} Own
 * @property {Uint8Array} tn
 * @property {Uint8Array} [pk] the player's key, which is another for each server; older tables have none
 * @property {number} seat
 * @property {Uint8Array | null} mid
 * @property {string | null} stopped why, for good
 * @property {{ k: number, head: Uint8Array } | null} accepted
 * @property {Record<string, [body: Uint8Array, sig: Uint8Array]>} signed
 * @property {Uint8Array[]} refused
 * @property {[body: Uint8Array, sig: Uint8Array][]} [refusals]
 * @property {Uint8Array[]} [settled]
 * @property {OwnChain[]} chains
 */

/**
 * What must not be forgotten. A promise of `save` is kept when everything in `kept` is stored for good: nothing that
 * stands in it is sent before.
 *
 * @typedef {object} Store
 * @property {{ master: Uint8Array, pins: Record<string, Pin>, tables: Record<string, Own> }} kept pins by "host:port",
 *   tables by th
 * @property {(th?: string) => Promise<void>} save the table that has changed; without it everything
 */

const signShape = shape('word t')
const refusalShape = shape('tag t, mid h, body h, code t')
const LATE = ['stale_position', 'void_bet']
const STEPS = ['mask', 'lock', 'keys', 'lend', 'garbled']     // of mode blind
const SIGNED = ['act', 'release', 'resign', 'rekey', 'ack', ...STEPS]     // what only a seat's own client signs
/** @type {Option} */
const NOTHING = ['concede', [], '', []]     // in place of an act that is signed already, of which only the place matters
const MOST_GAPS = 3     // answers in a row from which the same record is missing

/** @type {(sent: Sent) => Raw} */
const rawOf = ([signer, body, sig]) => ({ signer, body, sig })
/** @param {Raw} a @param {Raw} b */
const isSame = (a, b) => a.signer === b.signer && same(a.body, b.body) && same(a.sig, b.sig)

/** @param {Own} own */
function mayGoOn({ stopped }) {
  if (stopped) throw new Stopped(`this match was stopped for good: ${stopped}`, true)
}

/** Any option but to concede, if there is one: all are legal. @param {Option[]} options @returns {Option} */
export function anyOption(options) {
  const better = options.filter(([kind]) => kind !== 'concede')
  const choices = better.length > 0 ? better : options
  return choices[Number(bigEndian(randomBytes(8)) % BigInt(choices.length))]
}

export class Seat {
  /**
   * Its `name` is the one that welcome gives, with which a seat must be signed; `shown` is the newest state of the table.
   *
   * @param {Store} store
   * @param {{ pk: Uint8Array, sign: (body: Uint8Array) => Promise<Uint8Array> }} me the player
   * @param {Uint8Array} spk the server's key
   * @param {(options: Option[]) => Option | Promise<Option>} choose one of several
   */
  constructor(store, me, spk, choose = anyOption) {
    this.store = store
    this.me = me
    this.spk = spk
    this.pick = choose
    /** @type {Own | null} */
    this.own = null
    /** @type {Setup | null} */
    this.setup = null
    /** @type {Ledger | null} */
    this.ledger = null
    /** @type {string[]} */
    this.pack = []
    /** @type {HeldCard[][]} */
    this.hands = []     // the own one, by deal
    /** @type {{ doc: Uint8Array, raws: Raw[] } | null} */
    this.failing = null     // the records up to the one that is being checked
    this.name = ''
    /** @type {{ d: number, of: number, cards: string[] } | null} */
    this.opened = null     // the cards that the newest record has shown this seat: its own, or a partner's
    /** @type {{ at: number, options: Option[] }} */
    this.offered = { at: -1, options: [] }
    this.gap = { at: -1, count: 0 }
    this.hasTakenRefused = false     // whether a body that the server had refused has come as a record
    /** @type {import('./blind/dealing.mjs').Dealing | null} */
    this.dealing = null     // in mode blind
  }

  // For what is done once the match has begun.
  get match() {
    return /** @type {{ own: Own, setup: Setup, ledger: Ledger }} */ (this)
  }

  get mid() {
    return this.own?.mid ?? null
  }

  // Stored for good, before anything of it is sent.
  async save() {
    await this.store.save(this.setup?.th && toHex(this.setup.th))
  }

  get next() {
    return this.ledger?.k ?? -1
  }

  /**
   * C9, before anything is signed: the terms are new, this server's, and those of the table. Returns the `seat` record.
   *
   * @param {{ doc: Uint8Array, record: Sent }} terms
   * @param {number} seat
   * @param {any} shown
   * @returns {Promise<Signed>}
   */
  async agree({ doc, record }, seat, shown) {
    const raw = rawOf(record)
    this.own = null
    this.failing = { doc, raws: [raw] }
    const setup = this.setup = new Setup(doc, await import('./rules/index.mjs'), MODES)
    await setup.attest(raw)
    setup.take(raw)
    const { terms: fields, th, opts } = setup
    const { tables } = this.store.kept
    must(same(fields.spk, this.spk), 'C9', null)
    // the key is another for each server: one that copies another's nonce must not use it up, nor be blamed for it
    const known = Object.entries(tables).filter(([, { pk }]) => pk === undefined || same(pk, this.me.pk))
    must(known.every(([key, { tn }]) => key === toHex(th) || !same(tn, fields.tn)), 'C9', SERVER)
    const isShown = same(shown.rules, fields.rules) && shown.n === fields.seats && shown.policy === fields.policy &&
      fields.mode === (shown.mode ?? 'dealt') &&
      Object.values(opts).every((value, at) => shown.opts[at] === undefined || shown.opts[at] === value)
    must(isShown, 'C9', null)
    // the same terms come again until their setup, and are answered with what is stored (C9)
    const own = this.own = tables[toHex(th)] ??= await this.begun(fields, seat)
    mayGoOn(own)
    const [{ anchor, x }] = own.chains
    return this.signed(own, 'seat', ['truc/1/seat', th, own.seat, this.me.pk, anchor, x, utf8(this.name)])
  }

  /** @param {any} fields @param {number} seat @returns {Promise<Own>} */
  async begun(fields, seat) {
    const chains = [await this.freshChain(fields, 0)]
    return { tn: fields.tn, pk: this.me.pk, seat, mid: null, stopped: null, accepted: null, signed: {}, refused: [], chains }
  }

  /** @param {any} terms @param {number} first @returns {Promise<OwnChain>} */
  async freshChain({ tn, links }, first) {
    const [root, secret] = [randomBytes(32), randomBytes(32)]
    const anchor = hashDown(this.me.pk, tn, root, first + links, first)
    return { first, root, anchor, secret, x: await newBoxKeyOf(secret), counter: '-1' }
  }

  /**
   * The match begins: these terms were signed, the own seat stands there as it was sent, the others as at the table.
   *
   * @param {{ doc: Uint8Array, records: Sent[] }} message
   * @param {any} shown
   */
  async begin({ doc, records }, shown) {
    const setup = new Setup(doc, await import('./rules/index.mjs'), MODES)
    for (const raw of records.map(rawOf)) {
      this.failing = { doc, raws: [...setup.records, raw] }
      await setup.attest(raw)
      setup.take(raw)
    }
    must(setup.done, 'C8', null)
    const own = this.store.kept.tables[toHex(setup.th)]
    if (own === undefined) throw new Stopped('the secrets of this match are not here')
    mayGoOn(own)
    must(same(setup.server.pk, this.spk), 'C9', null)
    must(same(setup.records[1 + own.seat].body, own.signed.seat[0]), 'C9', null)
    must(own.mid === null || same(own.mid, setup.mid), 'C36', SERVER)
    const isShown = shown === null || shown.seats.every((/** @type {any} */ { player }, /** @type {number} */ seat) => {
      const { pk } = setup.seats[seat]
      // the tag of a player with a key is its fingerprint: those who were shown there are those who play
      return player === undefined || pk === null || player === fingerprint(pk)
    })
    must(isShown, 'C9', null)
    const [, , , , pack] = /** @type {any[]} */ (decode(doc))
    const ledger = await ledgerOf(setup)
    const dealing = setup.terms.mode === 'blind' ? new (await import('./blind/dealing.mjs')).Dealing(this) : null
    // Nothing has changed where loading failed, as when the connection is lost: the match begins again on the next one.
    own.mid = setup.mid
    Object.assign(this, { own, setup, pack, ledger, hands: [], dealing, hasTakenRefused: false })
    await this.save()
  }

  /** The next record, or one that is known already and must be the same. @param {Raw & { k: number }} record */
  async take({ k, signer, body, sig }) {
    const raw = { signer, body, sig }
    const { ledger, own, setup } = this.match
    this.failing = { doc: setup.document, raws: [...this.rawsBefore(k), raw] }
    if (k < ledger.k) return this.compare(k, raw)
    await ledger.attest(raw)
    ledger.take(raw)
    const { kind, fields } = ledger.records[k]
    // until the server has signed behind a body that it had refused, the line may have put it there (specification.md, 14)
    must(!this.hasTakenRefused || signer !== SERVER || kind === 'proxy', 'C35', SERVER)
    if (own.refused.some((hash) => same(hash, sha256(body)))) this.hasTakenRefused = true
    const isOwn = signer === own.seat + 1 && SIGNED.includes(kind)
    const isKnown = Object.values(own.signed).some(([mine]) => same(mine, body)) || Boolean(own.settled?.some((hash) => same(hash, sha256(body))))
    const isReplaced = kind === 'sub' && fields.seat === own.seat
    if (isReplaced || (isOwn && !isKnown)) throw new Stopped('the seat is played from elsewhere')
    // only that it was accepted is stored, and no signature that could blame anybody
    if (own.accepted?.k === ledger.k) must(same(ledger.head, own.accepted.head), 'C33', null)
    this.opened = null
    if (this.dealing !== null) return this.look(this.dealing, ledger.records[k])
    if (kind === 'deal') await this.openDeal(fields)
    if (kind === 'share' && fields.receiver === own.seat) await this.openShare(fields)
  }

  /** @param {import('./blind/dealing.mjs').Dealing} dealing @param {import('./proof/records.mjs').TypedRecord} record */
  async look(dealing, record) {
    await dealing.look(record)
    const { own: { seat } } = this.match
    const { kind, fields: { d, seat: giver, receiver } } = record
    const isSeen = kind === 'deal' ? dealing.cards.length > 0 : kind === 'lend' && receiver === seat && dealing.lent.has(giver)
    if (!isSeen) return
    const of = kind === 'deal' ? seat : giver
    const [, cards] = /** @type {[number, number[]]} */ (dealing.held.find(([one]) => one === of))
    this.opened = { d, of, cards: cards.map((card) => this.pack[card]) }
  }

  /**
   * A record that comes again is the same; another convicts the server if it has signed both.
   *
   * @param {number} k
   * @param {Raw} raw
   */
  compare(k, raw) {
    const { ledger: { records }, setup } = this.match
    if (isSame(records[k], raw)) return
    const word = wordOfServer(raw, setup.server.pk)     // for the position that it names, whatever it is sent for
    const { mid = null, k: at = -1 } = word?.fields ?? {}
    const isHere = mid !== null && same(mid, setup.mid) && at in records
    const isOther = isHere && !same(records[at].body, raw.body)
    // without a record of the server's behind it, whoever sent the list may have put that one there
    const isBound = isOther && records.slice(at).some(({ signer, kind }) => signer === SERVER && kind !== 'proxy')
    must(false, 'C33', isBound ? SERVER : null)
  }

  // What has passed so far.
  known() {
    const { setup, ledger } = this.match
    return { doc: setup.document, raws: this.rawsBefore(ledger.k) }
  }

  /** @param {number} k @returns {Raw[]} */
  rawsBefore(k) {
    const { setup, ledger } = this.match
    return [...setup.records, ...ledger.records.slice(0, k)]
  }

  /**
   * The server has sent all there is, up to k: not less than it has shown before. What is missing is asked for again,
   * but not for ever.
   *
   * @param {number} k
   */
  reached(k) {
    const { ledger, own } = this.match
    if (k > ledger.k) {
      const { at, count } = this.gap
      this.gap = { at: ledger.k, count: at === ledger.k ? count + 1 : 1 }
      // a server that names records and never sends them would be asked without end
      must(this.gap.count < MOST_GAPS, 'C10', null)
      throw new Error('records are missing')
    }
    must(own.accepted === null || own.accepted.k <= ledger.k, 'C33', null)
  }

  /** C18. @param {any} fields */
  async openDeal({ j, d, leaves, boxes, up }) {
    const { seat } = this.match.own
    if (d === 0) this.hands = []
    if (boxes[seat].length === 0) return     // a hand that is played blind
    const dealt = await this.open(boxes[seat], handInfo(j, d, seat), leaves[seat], { j, d, seat })
    const cards = [...this.hands.flat(), ...dealt].map(([card]) => card)
    must(new Set([...cards, ...up]).size === cards.length + up.length, 'C18', SERVER)
    this.hands.push(dealt)
    this.know(seat, dealt)
    this.opened = { d, of: seat, cards: this.named(dealt) }
  }

  /** Cards as the rule document names them. @param {HeldCard[]} held */
  named(held) {
    return held.map(([card]) => this.pack[card])
  }

  /** @param {any} fields */
  async openShare({ j, d, giver, receiver, box }) {
    const { leaves } = this.match.ledger.openDeal
    const shared = await this.open(box, shareInfo(j, d, giver, receiver), leaves[giver], { j, d, seat: giver })
    this.know(giver, shared)
    this.opened = { d, of: giver, cards: this.named(shared) }
  }

  // The rules are told the cards that this seat has seen.
  /** @param {number} seat @param {HeldCard[]} held */
  know(seat, held) {
    const { reading } = this.match.ledger.openHand
    held.forEach(([card], slot) => reading.know(seat, slot, card))
  }

  /**
   * @param {Uint8Array} box
   * @param {Value} info
   * @param {Uint8Array[]} leaves
   * @param {{ j: number, d: number, seat: number }} place
   * @returns {Promise<HeldCard[]>}
   */
  async open(box, info, leaves, { j, d, seat }) {
    const { setup, ledger } = this.match
    try {
      const hand = openHand(boxKey(await this.shared(), setup.mid, info), box)
      const fits = hand.length === leaves.length && hand.every(([card, salt], slot) =>
        card < setup.rules.deck && same(leafOf(setup.mid, j, d, seat, slot, card, salt), leaves[slot]))
      must(fits && new Set(hand.map(([card]) => card)).size === hand.length, 'C18', SERVER)
      return hand
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      throw new CheckFailed('C18', SERVER, { cause: ledger.k })
    }
  }

  // The chain in force, whose x the ledger has, and the secret it shares with the server.
  get chain() {
    const { ledger, own } = this.match
    const { x } = ledger.seats[own.seat]
    const chain = own.chains.find((one) => x !== null && same(one.x, x))
    if (chain === undefined) throw new Stopped('the secrets of this chain are not here')
    return chain
  }

  shared() {
    return agree(this.chain.secret, this.match.ledger.server.x)
  }

  // Whether less is there than was accepted before: until then nothing is signed, as a server may show another history
  // after a restart, be it asked for or not, to have a body signed for that as well.
  get isBehind() {
    const { ledger, own } = this.match
    return own.accepted !== null && ledger.k < own.accepted.k
  }

  // What is owed without anybody asking for it: a release after the call, a new chain, an ack at the end; else null.
  async due() {
    if (this.isBehind) return null
    const { ledger, own: { seat } } = this.match
    const role = seat + 1
    const { mid, k, head } = ledger.quiet
    if (this.dealing !== null && ledger.sealing !== null) return this.dealing.due()
    if (ledger.phase === 'called' && ledger.roles.includes(role) && !ledger.links.has(role)) {
      const { index } = ledger
      return this.sign(`release ${index}`, ['truc/1/release', mid, k, head, index, seat, this.link(index)])
    }
    if (ledger.phase === 'ended' && !ledger.acked.has(seat)) return this.sign('ack', ['truc/1/ack', mid, k, head, seat])
    const isExhausted = ledger.chainOf(role).isExhausted(ledger.index)
    return ledger.phase === 'between' && isExhausted && ledger.decider === null && !ledger.paused ? this.rekey() : null
  }

  /** @param {number} j */
  link(j) {
    const { first, root } = this.chain
    const { own, setup } = this.match
    return hashDown(this.me.pk, own.tn, root, first + setup.terms.links, j + 1)
  }

  // Overtaken by another record it is signed again for the next position, with the same anchor and x; so too where the
  // player has asked for a pause, or given up, at this one.
  async rekey() {
    const { ledger: { mid, k, head, index, used }, own, setup } = this.match
    if (`act ${k}` in own.signed) return null
    const newest = own.chains.at(-1)
    // another seat may have copied what was named, and brought it first: that would be refused again and again (C7)
    const isNamed = newest?.first === index && !used.has(newest)
    const chain = newest !== undefined && isNamed ? newest : await this.freshChain(setup.terms, index)
    if (chain !== newest) own.chains.push(chain)
    const { anchor, x } = chain
    return this.sign(`rekey ${k}`, ['truc/1/rekey', mid, k, head, own.seat + 1, index, anchor, x])
  }

  /** @param {string} what @param {Value[]} body */
  sign(what, body) {
    const { own, ledger: { k, head } } = this.match
    // stored with what is signed, so that a server that shows an earlier head afterwards gets nothing signed
    own.accepted = { k, head }
    return this.signed(own, what, body)
  }

  /**
   * The record for what it is for: the stored one, which must be for the same head, or a new one that is stored now.
   *
   * @param {Own} own
   * @param {string} what
   * @param {Value[]} body
   * @returns {Promise<Signed>}
   */
  async signed(own, what, body) {
    const bytes = encode(body)
    if (own.signed[what] === undefined) {
      // stored before it is sent: after a crash the same bytes
      // go out again, and no others (specification.md, 13)
      own.signed[what] = [bytes, await this.me.sign(bytes)]
      try {
        await this.save()
      } catch (fault) {
        delete own.signed[what]     // else the next try would send what is not stored
        throw fault
      }
    }
    const [stored, sig] = own.signed[what]
    // An act and a resignation are for the same place.
    const placeOf = (/** @type {any} */ items) => encode(items.slice(1, 4))
    must(same(placeOf(decode(stored)), placeOf(body)), what.startsWith('release') ? 'C15' : 'C33', null)
    return { body: stored, sig }
  }

  /**
   * The options in the box, which `choose` signs one of. An option waits for this seat where the message is `must`, or a
   * hint says so.
   *
   * @param {{ box?: Uint8Array, at: number, offer: number }} message
   * @returns {Promise<Option[]>}
   */
  async offer({ box, at, offer }) {
    const { own: { seat }, setup: { mid } } = this.match
    const value = box === undefined ? null : await this.openPrivate(box, ['truc/1/options', mid, seat, at, offer])
    const options = readOptions(this, value)
    this.offered = { at, options }
    return options
  }

  /**
   * The options that this seat finds by itself, where the match waits for a decision: of the seats that everybody is told.
   *
   * @param {{ at: number, seats: number[] }} message
   * @returns {Option[]}
   */
  findOptions({ at, seats }) {
    const { ledger, own: { seat } } = this.match
    const { dealing, hands } = this
    const state = ledger.hand === null ? null : dealing?.seen ?? ledger.hand.reading.state
    const isHeld = dealing !== null && (dealing.isGarbled || (ledger.phase === 'hand' && !ledger.sealing?.isComplete))
    const options = isHeld ? [] : ownOptions(ledger, state, seat, dealing?.cards ?? hands.at(-1) ?? [], seats)
    this.offered = { at, options }
    return options
  }

  // Whether an act was signed for the position of the options on offer.
  get hasChosen() {
    return `act ${this.offered.at}` in this.match.own.signed
  }

  // Whether one of the options on offer says that the hand waits for this seat, which nobody else can tell.
  get isAwaited() {
    return this.offered.options.some(([, , , hints]) => hints.some(([name]) => name === 'waits'))
  }

  /**
   * The act for one of the options on offer; null where they are old. What was signed for this position before is sent
   * again, and never anything else.
   *
   * @param {(options: Option[]) => Option | Promise<Option>} [pick]
   * @returns {Promise<Signed | null>}
   */
  async choose(pick = this.pick) {
    const { at, options } = this.offered
    if (at !== this.next || this.isBehind) return null
    const what = `act ${at}`
    const option = what in this.match.own.signed ? NOTHING : await pick(options)
    return this.sign(what, this.actBody(option))
  }

  /**
   * What may be said at the next position without being on offer, unless something was signed for it already.
   *
   * @param {'pause' | 'resume' | 'resign'} kind
   * @returns {Promise<Signed | null>}
   */
  async interrupt(kind) {
    const { ledger: { mid, k, head }, own } = this.match
    const what = `act ${k}`
    // one act or new chain for a position, as both could be published: a second would convict this seat (C34)
    if (what in own.signed || `rekey ${k}` in own.signed || this.isBehind) return null
    return this.sign(what, kind === 'resign' ? ['truc/1/resign', mid, k, head, own.seat] : this.actBody([kind, [], '', []]))
  }

  /**
   * A word to a partner, sealed for the server, which passes it on; in mode blind it is sealed for the partner.
   *
   * @param {string} word
   * @param {number} to
   * @returns {Promise<{ at: number, to: number, box: Uint8Array }>}
   */
  async sealSign(word, to) {
    const { own: { seat }, setup: { mid }, ledger: { k: at } } = this.match
    if (this.dealing !== null) {
      const key = await this.signKey(seat, to, to)
      return { at, to, box: sealUp(key, randomBytes(12), [word], ['truc/1/sign', mid, to, at, seat]) }
    }
    const key = boxKey(await this.shared(), mid, ['truc/1/private-up', seat])
    return { at, to, box: sealUp(key, randomBytes(12), [word], ['truc/1/sign-up', mid, seat, at, to]) }
  }

  /**
   * The word of a partner's sign.
   *
   * @param {{ box: Uint8Array, at: number, from: number }} message
   * @returns {Promise<string>}
   */
  async openSign({ box, at, from }) {
    const { own: { seat }, setup: { mid } } = this.match
    const place = ['truc/1/sign', mid, seat, at, from]
    const value = this.dealing === null ? await this.openPrivate(box, place) : openUp(await this.signKey(from, seat, from), box, place)
    return signShape(Array.isArray(value) ? value : []).word
  }

  /** Of signs from seat to seat, in mode blind. @param {number} from @param {number} to @param {number} other of the two than this seat */
  async signKey(from, to, other) {
    const { ledger: { seats }, setup: { mid } } = this.match
    return boxKey(await agree(this.chain.secret, /** @type {Uint8Array} */ (seats[other].x)), mid, ['truc/1/signbox', from, to])
  }

  /** @param {Option} option @returns {Value[]} */
  actBody([kind, args]) {
    const { ledger: { mid, k, head, index }, own } = this.match
    return ['truc/1/act', mid, k, head, index, own.seat, kind, args]
  }

  /** @param {Uint8Array} box @param {Value} associated @returns {Promise<Value>} */
  async openPrivate(box, associated) {
    const { chain, match: { own: { seat }, setup: { mid } } } = this
    const key = boxKey(await this.shared(), mid, ['truc/1/private', seat])
    const value = openPrivate(key, box, associated, BigInt(chain.counter))
    chain.counter = counterOf(box).toString()
    return value
  }

  /**
   * The server's signed word that it did not take a body: kept, it convicts if the body was offered, or is taken. A new
   * chain alone is signed again.
   *
   * @param {Sent} refusal
   * @param {Signed} sent
   * @param {boolean} findsOptions whether this seat has found out by itself what it may do: closed cards may forbid it then
   */
  async refused([signer, body, sig], { body: sent, sig: signature }, findsOptions) {
    const { own, setup, ledger } = this.match
    await attest(setup.server.pk, body, sig)
    const value = decode(body)
    const { tag, mid, body: hash, code } = refusalShape(Array.isArray(value) ? value : [])
    const holds = signer === SERVER && tag === 'truc/1/refuse' && same(mid, setup.mid) && same(hash, sha256(sent)) &&
      signatureHolds(setup.server.pk, body, sig)
    must(holds, 'C35', null)
    const what = Object.keys(own.signed).find((name) => same(own.signed[name][0], sent))
    const isAct = what?.startsWith('act') ?? false
    if (this.dealing !== null && !isAct && !what?.startsWith('rekey')) return     // it may stand there already, and is never made anew
    if (what !== undefined && !isAct) delete own.signed[what]
    own.refused.push(hash)
    own.refusals = [...own.refusals ?? [], [body, sig]]
    await this.save()
    const act = { signer: own.seat + 1, body: sent, sig: signature }
    this.failing = { doc: setup.document, raws: [...this.rawsBefore(ledger.k), act] }
    // in a game with flor closed cards may forbid what a seat
    // has found allowed by its own (specification.md, 14)
    must(!isAct || LATE.includes(code) || (findsOptions && setup.rules.flor !== null), 'C35', SERVER)
  }

  /** Never again anything for this match. @param {string} why */
  async stop(why) {
    if (this.own === null) return
    this.own.stopped = why
    await this.save()
  }

  get isDone() {
    return this.ledger !== null && this.ledger.acked.has(this.match.own.seat)
  }
}
