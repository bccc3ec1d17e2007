// Mode blind (docs/fairness/blind.md), "What a client does": what one's own seat does with the pack, and the cards that its
// keys open. ../seat.mjs signs and stores.
//
// What is due follows from the records that have passed alone. Each secret serves once (C51): a step is stored before it is
// sent, and what is sent again are the stored bytes. Where something came in between in a hand, the very same step is signed
// for its new place; asked for in another history it is not: two histories of one deal would show where the cards went.

import { same, toHex } from '../bytes.mjs'
import { multiplyAhead } from '../platform.mjs'
import { hashDown } from '../proof/chains.mjs'
import { Malformed, decode, encode, sha256 } from '../proof/encoding.mjs'
import { agree } from '../proof/keys.mjs'
import { SERVER, isAt, must } from '../proof/records.mjs'
import { lentCards } from './judging.mjs'
import { makeLend } from './making.mjs'
import { owesLend } from './mode.mjs'
import { openingProduct } from './sealing.mjs'
import { cardIn, dueOf, made, ownKeys } from './own_steps.mjs'
import { secretsOf } from './secrets.mjs'

/** @typedef {import('../seat.mjs').Seat} Seat */
/** @typedef {import('../seat.mjs').Signed} Signed */
/** @typedef {import('../proof/records.mjs').Place} Place */
/** @typedef {import('./making.mjs').OpenedCard} OpenedCard */
/** @typedef {import('./sealing.mjs').Sealing} Sealing */

const OF_ONE_HAND = /^(mask|lock|keys|lend|garbled) (\d+)/     // what a step is signed as; the number is its deal index
const HEAD = 4     // a body begins with its tag, the match, the position and the head

export class Dealing {
  /** @param {Seat} seat in a match of this mode */
  constructor(seat) {
    this.seat = seat
    /** @type {{ name: string, secrets: import('./secrets.mjs').Secrets } | null} */
    this.known = null     // of the newest index: deriving a link takes a thousand hashes
    this.isGarbled = false     // whether the own keys open no hand of cards, or one of them lies elsewhere too
    /** @type {OpenedCard[]} */
    this.cards = []     // the own ones of the newest deal, by slot
    /** @type {Map<number, OpenedCard[]>} */
    this.lent = new Map()     // those of partners that were shown to this seat
  }

  /** What this seat draws from its link of the open index. */
  get secrets() {
    const { own, setup, ledger: { index } } = this.seat.match
    const { x, first, root } = this.seat.chain
    const name = `${index} ${toHex(x)}`
    if (this.known?.name !== name) {
      const link = hashDown(this.seat.me.pk, own.tn, root, first + setup.terms.links, index + 1)
      this.known = { name, secrets: secretsOf(link, setup.mid, index) }
    }
    return this.known.secrets
  }

  /** A record has passed: see what this seat sees by it. @param {import('../proof/records.mjs').TypedRecord} record */
  async look({ kind, fields }) {
    const { ledger: { sealing, hand }, own: { seat } } = this.seat.match
    if (kind === 'call') Object.assign(this, { isGarbled: false, cards: [], lent: new Map() })
    const isDealt = hand === null || hand.reading.awaitsDeal
    if (kind === 'keys' && sealing?.isComplete && isDealt) await this.guarded(() => this.openHand(sealing))
    if (kind === 'lend' && fields.receiver === seat && sealing) await this.guarded(() => this.openLend(sealing, fields))
    if (hand !== null && !hand.reading.awaitsDeal && !this.areAlone(hand.reading.state.hand)) this.isGarbled = true
  }

  /** Whether no card that this seat sees lies at two places, and no place is of two cards. @param {import('../rules/state.mjs').Hand} hand */
  areAlone({ cards, up }) {
    const open = cards.map((some, seat) => /** @type {const} */ ([seat, some]))
    const lying = [...open, ...this.held].flatMap(([seat, some]) => some.flatMap((card, slot) => card === null ? [] : [[card, `${seat} ${slot}`]]))
    const all = [...lying, ...up.map((card, i) => [card, `up ${i}`])]
    const [found, places, pairs] = [all.map(([card]) => card), all.map(([, place]) => place), all.map((each) => each.join(' '))]
    return [found, places].every((some) => new Set(some).size === new Set(pairs).size)
  }

  /** The cards that this seat alone sees, by slot: its own, and those of partners. @returns {[seat: number, cards: number[]][]} */
  get held() {
    const { own: { seat } } = this.seat.match
    return [.../** @type {[number, OpenedCard[]][]} */ ([[seat, this.cards]]), ...this.lent].map(([one, some]) => [one, some.map(([card]) => card)])
  }

  // Whose doing it is that nothing opens, the links will show.
  /** @param {() => Promise<void>} step */
  async guarded(step) {
    try {
      await step()
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      this.isGarbled = true
    }
  }

  /** Open the own places, and those turned up, once all keys are in. @param {Sealing} sealing */
  async openHand(sealing) {
    this.cards = []
    this.lent = new Map()
    const { own: { seat } } = this.seat.match
    const turned = sealing.newest.filter((place) => place.seat === null).map((place) => ({ place, keys: sealing.givenOf(place) }))
    // in a hand that is played blind nobody's keys went to the owners
    const keys = sealing.call.isUnseen ? [] : await this.ownKeys(sealing)
    const mine = sealing.call.isUnseen ? [] : sealing.newest.filter((place) => place.seat === seat)
    const places = [...mine.map((place, slot) => ({ place, keys: keys[slot] })), ...turned]
    const everyCard = Array.from({ length: sealing.call.deck }, (_, card) => card)
    await multiplyAhead?.(places.flatMap(({ place, keys }) => everyCard.map((card) => openingProduct(place, card, keys))))
    const cards = places.map(({ place, keys }) => cardIn(sealing, place, keys))
    if (cards.includes(null) || new Set(cards).size < cards.length) throw new Malformed('no hand of cards')
    this.cards = mine.map((_, slot) => [/** @type {number} */ (cards[slot]), keys[slot]])
  }

  /** @param {Sealing} sealing */
  async ownKeys(sealing) {
    const { own: { seat } } = this.seat.match
    /** @type {Map<string, Uint8Array>} */
    const shared = new Map()
    for (const { box } of sealing.keysOf(sealing.d)) if (box !== null) shared.set(toHex(box), await agree(this.seat.chain.secret, box))
    return ownKeys(sealing, seat, this.secrets, (point) => /** @type {Uint8Array} */ (shared.get(toHex(point))))
  }

  /** @param {Sealing} sealing @param {any} fields of the lend */
  async openLend(sealing, { d, seat: giver, receiver, box }) {
    const { box: point } = sealing.keysOf(d)[giver]
    const shared = await agree(this.seat.chain.secret, /** @type {Uint8Array} */ (point))
    const cards = lentCards(sealing, giver, { d, receiver, box }, shared)
    if (cards === null) throw new Malformed('cards of other places')
    this.lent.set(giver, cards)
  }

  /** How the open hand stands with the cards that this seat sees: others are judged by what everybody sees. */
  get seen() {
    const { state, awaitsDeal } = this.seat.match.ledger.openHand.reading
    if (awaitsDeal) return state
    const held = new Map(this.held)
    const cards = state.hand.cards.map((known, seat) => known.map((card, slot) => card ?? held.get(seat)?.[slot] ?? null))
    return { ...state, hand: { ...state.hand, cards } }
  }

  /** What this seat owes of the pack now, signed and stored. @returns {Promise<Signed | null>} */
  async due() {
    const { ledger, own: { seat } } = this.seat.match
    const { sealing, hand } = ledger
    if (sealing === null) return null
    const isOver = hand !== null && hand.reading.isOver
    if (ledger.garbled !== null || ledger.exposed !== null || isOver || ledger.phase === 'over') return ledger.links.has(seat + 1) ? null : this.link()
    if (ledger.paused) return null
    if (!sealing.isComplete) return this.stepDue(sealing)
    if (hand === null || hand.reading.awaitsDeal) return null
    const { mid, k, head, index: j } = ledger
    // in place of cards that should be lent, too: its own keys do not open them
    if (this.isGarbled) return this.seat.sign(`garbled ${j} ${k}`, ['truc/1/garbled', mid, k, head, j, sealing.d, seat])
    return owesLend(ledger, hand) && hand.shares[0][0] === seat ? this.lend(sealing, hand.shares[0][1]) : null
  }

  /** A release that was signed before the match ended otherwise is not signed anew: that would be a second one (C34). */
  async link() {
    const { ledger: { quiet, index }, own } = this.seat.match
    const { mid, k, head } = quiet
    const kept = own.signed[`release ${index}`]
    if (kept !== undefined && !isAt(placeOf(kept[0]), quiet)) {
      must(this.hasPassed(placeOf(kept[0])), 'C15', SERVER)
      return null
    }
    return this.seat.sign(`release ${index}`, ['truc/1/release', mid, k, head, index, own.seat, this.seat.link(index)])
  }

  /** @param {Sealing} sealing */
  async stepDue(sealing) {
    const { ledger, own: { seat } } = this.seat.match
    const xs = ledger.seats.map(({ x }) => /** @type {Uint8Array} */ (x))     // no seat is a guest's
    const step = dueOf(sealing, seat, this.secrets, xs)
    if (step === null) return null
    const { kind, d, making } = step
    const { index: j } = ledger
    switch (kind) {
      case 'mask': return this.step(`mask ${j}`, ledger, async () => [j, seat, (await made(making)).points])
      case 'lock': return this.step(`lock ${j} ${d} ${sealing.turns.length}`, ledger, async () => {
        const { nonce, points, commitments } = await made(making)
        return [j, d, seat, nonce, points, commitments]
      })
      case 'keys': return this.step(`keys ${j} ${d} ${sealing.round.shown.map(({ p }) => p)}`, ledger.quiet, async () => {
        const { box, opened, boxes } = await made(making)
        return [j, d, seat, box, opened, boxes]
      })
    }
  }

  /** @param {Sealing} sealing @param {number} receiver */
  lend(sealing, receiver) {
    const { ledger, own: { seat } } = this.seat.match
    const { d, j } = sealing
    const x = /** @type {Uint8Array} */ (ledger.seats[receiver].x)
    return this.step(`lend ${j} ${d} ${receiver}`, ledger, async () => {
      const { box } = await made(makeLend(this.secrets, sealing, { d, giver: seat, receiver }, this.cards, x))
      return [j, d, seat, receiver, box]
    })
  }

  /**
   * C51: the step as it is stored, or made and stored now.
   *
   * @param {string} what it is: its kind, and what tells it from others of the kind
   * @param {Place} place
   * @param {() => Promise<import('../proof/encoding.mjs').Value[]>} make its fields behind the place
   * @returns {Promise<Signed>}
   */
  async step(what, { mid, k, head }, make) {
    const { ledger, own } = this.seat.match
    const again = `${what} again ${k}`
    for (const kept of [own.signed[what], own.signed[again]]) {
      if (kept === undefined) continue
      const [body, sig] = kept
      if (isAt(placeOf(body), { mid, k, head })) return { body, sig }
      must(ledger.phase === 'hand' && this.hasPassed(placeOf(body)), 'C51', SERVER)
    }
    // here, where something new is stored anyway
    this.settle(ledger.index)
    const said = await make()
    const first = own.signed[what]
    must(first === undefined || same(encode(said), encode(itemsOf(first[0]).slice(HEAD))), 'C51', SERVER)
    return this.seat.sign(first === undefined ? what : again, [`truc/1/${what.split(' ')[0]}`, mid, k, head, ...said])
  }

  /** Of the steps of earlier hands, which are over, only their hashes are kept: by them they are known again as one's own. @param {number} index */
  settle(index) {
    const { own } = this.seat.match
    for (const [what, [body]] of Object.entries(own.signed)) {
      const [, , j] = OF_ONE_HAND.exec(what) ?? []
      if (j === undefined || Number(j) >= index) continue
      own.settled = [...own.settled ?? [], sha256(body)]
      delete own.signed[what]
    }
  }

  /** Whether the match stood like this before one of the records that have passed. @param {Place} place */
  hasPassed({ k, head }) {
    const { ledger, setup: { mid } } = this.seat.match
    const before = k === 0 ? mid : ledger.records[k - 1]?.after
    return before !== undefined && same(before, head)
  }
}

/** @param {Uint8Array} body @returns {any[]} */
const itemsOf = (body) => /** @type {any[]} */ (decode(body))

/** @param {Uint8Array} body @returns {Place} */
function placeOf(body) {
  const [, mid, k, head] = itemsOf(body)
  return { mid, k, head }
}
