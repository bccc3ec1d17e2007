// Mode blind, "The steps": how the seats shuffle and seal the pack of one index, step by step. It says which step is due,
// takes each as it comes, and knows then where every place stands, what its card is bound to, and what opens it.

import { same } from '../bytes.mjs'
import { L } from '../own/curve25519.mjs'
import { orderOf } from '../proof/deals.mjs'
import { H } from '../proof/encoding.mjs'
import { BASE, cardPoints, cardScalar, classOf, isFixed, multiply, nameOf, rep } from './group.mjs'
import { keyDigest } from './making.mjs'

/** @typedef {import('./making.mjs').Pair} Pair */
/** @typedef {import('./making.mjs').Round} Round */

/**
 * A place of the order: of a seat's slot, or without a seat a card turned up. P never changes; Q does with each lock, which
 * shows the digest of its key.
 *
 * @typedef {{ p: number, d: number, seat: number | null, slot: number, P: Uint8Array, Q: Uint8Array,
 *   digests: [seat: number, digest: Uint8Array][] }} Place
 */

/** A step in order: of whom, and of a lock which places, and whether the nonce is due. */
/**
 * @typedef {{ kind: 'mask', seat: number }} MaskTurn
 * @typedef {{ kind: 'lock', seat: number, trays: string, hasNonce: boolean }} LockTurn
 */

/**
 * A step that was taken, with what lay there before.
 *
 * @typedef {{ kind: 'mask', seat: number, before: Pair[], fields: { points: Uint8Array[] } }} MaskStep
 * @typedef {{ kind: 'lock', seat: number, turn: LockTurn, before: { place: Place, Q: Uint8Array }[],
 *   fields: { nonce: Uint8Array | null, points: Uint8Array[], commitments: Uint8Array[] } }} LockStep
 * @typedef {{ kind: 'keys', seat: number, round: Round,
 *   fields: { box: Uint8Array | null, opened: Uint8Array[], boxes: Uint8Array[] } }} KeysStep
 * @typedef {{ kind: 'lend', seat: number, fields: { d: number, receiver: number, box: Uint8Array } }} LendStep
 * @typedef {MaskStep | LockStep | KeysStep | LendStep} Step
 */

/**
 * @typedef {{ mid: Uint8Array, j: number, deck: number, seats: number, dealer: number, ncards: number, cut: number,
 *   up: number, isUnseen: boolean }} Call `up` are the cards turned up; unseen is a hand that is played blind
 */

/** @param {number} a @param {number} b whether two seats are of one side */
const isOneSide = (a, b) => a % 2 === b % 2

export class Sealing {
  /** @param {Call} call */
  constructor(call) {
    this.mid = call.mid
    this.j = call.j
    this.seats = call.seats
    this.call = call
    /** By order of play, from the eldest to the dealer. */
    this.players = Array.from({ length: call.seats }, (_, i) => (call.dealer + 1 + i) % call.seats)
    /** @type {Pair[]} as the newest mask leaves them */
    this.pairs = cardPoints(call.deck).map((point) => [BASE, point])
    // C45: no point stands twice, is G, or is that of a card
    this.seen = new Set([BASE, ...cardPoints(call.deck)].map(nameOf))
    /** @type {number[]} which pair a place is, once the nonce is known */
    this.order = []
    /** @type {Place[]} */
    this.places = []
    /** @type {Step[]} */
    this.steps = []
    /** @type {(MaskTurn | LockTurn)[]} what is due, before keys are */
    this.turns = this.players.map((seat) => ({ kind: 'mask', seat }))
    /** The newest sub-deal. */
    this.d = -1
    /** @type {Set<number>} the seats whose keys are due, for this round */
    this.giving = new Set()
    /** @type {Round} */
    this.round = { d: 0, shown: [], dealt: null }
    /** @type {Uint8Array[][]} the keys of this round that went to all, by seat */
    this.given = []
    this.begin()
  }

  /** The places of the next sub-deal are to be locked. */
  begin() {
    const { players: [eldest, ...others] } = this
    this.d += 1
    const isFirst = this.d === 0
    if (!isFirst) this.places.push(...this.laid(this.order))
    this.turns.push(
      // the first to lock a place is of the other side than its owner,
      // so that no side can copy a card (blind.md, "The argument", 4)
      { kind: 'lock', seat: eldest, trays: 'A', hasNonce: isFirst },
      ...others.map((seat) => /** @type {LockTurn} */ ({ kind: 'lock', seat, trays: 'AB', hasNonce: false })),
      { kind: 'lock', seat: eldest, trays: 'B', hasNonce: false }
    )
  }

  // The places of the newest sub-deal, which lie behind those before.
  /** @param {number[]} order @returns {Place[]} */
  laid(order) {
    const { ncards, up } = this.call
    const slots = Array.from({ length: ncards }, (_, slot) => slot)
    // as cards are dealt in mode dealt; those turned up come
    // last, and in the first deal alone (blind.md, "The steps")
    const owners = [
      ...slots.flatMap((slot) => this.players.map((seat) => ({ seat, slot }))),
      ...Array.from({ length: this.d === 0 ? up : 0 }, (_, slot) => ({ seat: null, slot }))
    ]
    return owners.map((owner, i) => {
      const p = this.places.length + i
      const [P, Q] = this.pairs[order[p]]
      return { p, d: this.d, ...owner, P, Q, digests: [] }
    })
  }

  /** The order of the pack, by the nonce of the eldest. @param {Uint8Array} nonce */
  orderBy(nonce) {
    const { deck, cut } = this.call
    return orderOf(H('order', this.mid, this.j, nonce), deck, cut)
  }

  /** The places of the newest sub-deal. */
  get newest() {
    return this.places.filter(({ d }) => d === this.d)
  }

  /** How many places a lock has. @param {LockTurn} turn */
  sizeOf({ trays }) {
    const { seats, ncards, up } = this.call
    const half = seats / 2 * ncards
    return (trays.includes('A') ? half : 0) + (trays.includes('B') ? half + (this.d === 0 ? up : 0) : 0)
  }

  /**
   * What lies where a lock goes, places ascending: tray A are the places of the dealer's side, tray B all others. The nonce,
   * which says what the places are, may come with it.
   *
   * @param {LockTurn} turn
   * @param {Uint8Array | null} nonce
   */
  before({ trays }, nonce) {
    const { dealer } = this.call
    // the eldest's first lock tells the order of the pack, and is made by it
    const places = nonce === null ? this.newest : this.laid(this.orderBy(nonce))
    return places.filter(({ seat }) => trays.includes(seat !== null && isOneSide(seat, dealer) ? 'A' : 'B'))
      .map((place) => ({ place, Q: place.Q }))
  }

  /** Whether all places of the newest sub-deal are locked. */
  get isLocked() {
    return this.turns.length === 0
  }

  /** Whether nothing is due of this deal: all keys are in. */
  get isComplete() {
    return this.isLocked && this.giving.size === 0
  }

  /** Whether a step is due now, of whom and of which sub-deal. @param {string} kind @param {number} seat @param {number} d */
  isDue(kind, seat, d) {
    const [turn] = this.turns
    if (turn === undefined) return kind === 'keys' && this.giving.has(seat) && d === this.round.d
    return kind === turn.kind && seat === turn.seat && (kind === 'mask' || d === this.d)
  }

  /** Whether none of these points came before, nor one twice (C45). @param {Uint8Array[]} points */
  areNew(points) {
    const names = points.map(nameOf)
    return new Set(names).size === names.length && names.every((name) => !this.seen.has(name))
  }

  /** @param {Uint8Array[]} points */
  keep(points) {
    points.forEach((point) => this.seen.add(nameOf(point)))
  }

  /** @param {MaskStep['fields']} fields */
  mask({ points }) {
    const { seat } = /** @type {MaskTurn} */ (this.turns.shift())
    this.keep(points)
    this.steps.push({ kind: 'mask', seat, before: this.pairs, fields: { points } })
    this.pairs = this.pairs.map((_, k) => [points[2 * k], points[2 * k + 1]])
  }

  /** @param {LockStep['fields']} fields */
  lock({ nonce, points, commitments }) {
    const turn = /** @type {LockTurn} */ (this.turns.shift())
    const { seat } = turn
    if (nonce !== null) {
      this.order = this.orderBy(nonce)
      this.places = this.laid(this.order)
    }
    const before = this.before(turn, null)
    this.keep(points)
    this.steps.push({ kind: 'lock', seat, turn, before, fields: { nonce, points, commitments } })
    before.forEach(({ place }, i) => {
      place.Q = points[i]
      place.digests.push([seat, commitments[i]])
    })
    if (!this.isLocked) return
    const shown = this.newest.filter((place) => place.seat === null)
    this.ask({ d: this.d, shown, dealt: this.call.isUnseen ? null : this.newest.filter((place) => place.seat !== null) })
  }

  /** The keys of every seat are due. @param {Round} round */
  ask(round) {
    this.round = round
    this.giving = new Set(this.players)
    this.given = []
  }

  /** @param {number} seat @param {KeysStep['fields']} fields */
  keys(seat, { box, opened, boxes }) {
    if (box !== null) this.keep([box])
    this.steps.push({ kind: 'keys', seat, round: this.round, fields: { box, opened, boxes } })
    this.given[seat] = opened
    this.giving.delete(seat)
  }

  /** A step of any kind but a lend. @param {'mask' | 'lock' | 'keys'} kind @param {number} seat @param {any} fields */
  step(kind, seat, fields) {
    if (kind === 'keys') this.keys(seat, fields)
    else this[kind](fields)
  }

  /** @param {number} seat @param {LendStep['fields']} fields */
  lend(seat, { d, receiver, box }) {
    this.steps.push({ kind: 'lend', seat, fields: { d, receiver, box } })
  }

  /** @param {number} d @param {number | null} seat @param {number} slot */
  placeOf(d, seat, slot) {
    return /** @type {Place} */ (this.places.find((place) => place.d === d && place.seat === seat && place.slot === slot))
  }

  /** Whether this is a seat's key of a place: in its only encoding, with the digest that was shown. @param {Place} place @param {number} seat @param {Uint8Array} key */
  isKey(place, seat, key) {
    const shown = place.digests.find(([one]) => one === seat)
    return isFixed(key) && shown !== undefined && same(keyDigest(this, place.p, seat, key), shown[1])
  }

  /** Whether a card and the key of each seat open a place (C19). @param {Place} place @param {number} card @param {Uint8Array[]} keys */
  opens(place, card, keys) {
    if (keys.length !== this.seats || !keys.every((key, seat) => this.isKey(place, seat, key))) return false
    return same(multiply(openingProduct(place, card, keys)), place.Q)
  }

  /** The keys of a sub-deal as they were given to the owners of its places, by seat. @param {number} d */
  keysOf(d) {
    /** @type {KeysStep['fields'][]} */
    const given = []
    for (const step of this.steps) if (step.kind === 'keys' && step.round.d === d && step.fields.box !== null) given[step.seat] = step.fields
    return given
  }

  /** The keys of a place that went to all in this round, by seat. @param {Place} place */
  givenOf(place) {
    const i = this.round.shown.indexOf(place)
    return this.given.map((opened) => opened[i])
  }

  /** The leaves of the newest sub-deal, by seat and slot. */
  leaves() {
    const { mid, j, d, newest } = this
    return Array.from({ length: this.seats }, (_, q) => newest.filter(({ seat }) => seat === q)
      .map(({ slot, P, Q, digests }) => H('place', mid, j, d, q, slot, P, Q, digests)))
  }
}

/** What is Q of a place if the card lies there. @param {Place} place @param {number} card @param {Uint8Array[]} keys @returns {import('./group.mjs').Product} */
export function openingProduct({ P }, card, keys) {
  return [rep(keys.reduce((product, key) => product * classOf(key) % L, cardScalar(card))), P]
}
