// The test vectors of mode blind (docs/fairness/vectors.md): one function for each type of group, like those of
// ../proof/vectors.mjs, which loads them.

import { concatAll, fromHex as hex, littleEndian, same, toHex } from '../bytes.mjs'
import { multiplyAhead } from '../platform.mjs'
import { boxKeyOf, exchange } from '../proof/keys.mjs'
import { sha256 } from '../proof/encoding.mjs'
import { CheckFailed } from '../proof/records.mjs'
import { areSound, cardPoints, cardScalar, isFixed, rep, scalar } from './group.mjs'
import { cardAt, isHonest, judgingProducts } from './judging.mjs'
import { makeLend } from './making.mjs'
import { Sealing } from './sealing.mjs'
import { dueOf, made, ownKeys } from './own_steps.mjs'
import { secretsOf } from './secrets.mjs'

/** @typedef {any} Test as the file has it in JSON */

/** @typedef {import('./making.mjs').OpenedCard} OpenedCard */

/** @param {any} value that holds bytes @returns {string} */
const told = (value) => JSON.stringify(value, (_, one) => one instanceof Uint8Array ? toHex(one) : one)
/** @param {any} value @param {any} expected with bytes in hex */
const isTold = (value, expected) => told(value) === JSON.stringify(expected)
/** @param {any} json of the vectors, a value of the encoding */
const valueOf = (json) => json !== null && typeof json === 'object' ? hex(json.bin) : json

/** @param {Test} t */
function areSecrets(t) {
  const secrets = secretsOf(hex(t.link), hex(t.mid), t.j)
  /** @param {(n: number) => bigint} draw @param {string[]} expected */
  const areDrawn = (draw, expected) => isTold(expected.map((_, n) => rep(draw(n))), expected)
  return isTold([rep(secrets.mask), secrets.order(t.deck), secrets.nonce], [t.mask, t.order, t.nonce]) &&
    areDrawn(secrets.blind, t.blinds) && areDrawn(secrets.lock, t.locks) && areDrawn(secrets.box, t.boxes)
}

// A whole deal, which every seat makes step by step.
class Deal {
  /** @param {Test} t */
  constructor(t) {
    this.t = t
    this.mid = hex(t.mid)
    /** @type {Uint8Array[]} */
    this.links = t.links.map(hex)
    this.secrets = this.links.map((link) => secretsOf(link, this.mid, t.j))
    /** @type {Uint8Array[]} */
    this.x = t.x.map(hex)
    this.xs = this.x.map(boxKeyOf)
    this.sealing = new Sealing({ ...t, mid: this.mid, up: t.turned, isUnseen: t.unseen })
    /** @type {OpenedCard[][][]} */
    this.hands = []
    /** @type {Uint8Array[][][]} */
    this.leaves = []
  }

  /** Whether a step is what its seat makes. @param {any} step */
  async take(step) {
    const { sealing } = this
    if (step.kind === 'redeal') sealing.begin()
    else if (step.kind === 'blind') sealing.ask({ d: sealing.d, shown: [sealing.places[step.place]], dealt: null })
    else if (step.kind === 'lend') return this.lend(step)
    else {
      const due = dueOf(sealing, step.seat, this.secrets[step.seat], this.xs)
      if (due === null || due.kind !== step.kind) return false
      const fields = await made(due.making)
      sealing.step(step.kind, step.seat, fields)
      if (sealing.isComplete && this.leaves.length === sealing.d) this.deal()
      return step.kind === 'mask' ? isMask(fields, step) : isTold({ kind: step.kind, seat: step.seat, d: due.d, ...fields }, step)
    }
    return true
  }

  deal() {
    const { sealing } = this
    this.leaves.push(sealing.leaves())
    if (!this.t.unseen) this.hands.push(this.xs.map((_, seat) => this.handOf(seat)))
  }

  /** @param {number} seat @returns {OpenedCard[]} */
  handOf(seat) {
    const { sealing } = this
    const keys = ownKeys(sealing, seat, this.secrets[seat], (point) => exchange(this.x[seat], point))
    return sealing.newest.filter((place) => place.seat === seat).map((place, slot) => {
      const card = this.cardOf(place)
      if (!sealing.opens(place, card, keys[slot])) throw new CheckFailed('C19', null)
      return [card, keys[slot]]
    })
  }

  /** @param {import('./sealing.mjs').Place} place */
  cardOf({ p }) {
    return cardAt(this.sealing, new Map(this.links.map((link, seat) => [seat + 1, link])))(p)
  }

  /** @param {any} step */
  async lend({ seat, d, receiver, box }) {
    const lend = { d, giver: seat, receiver }
    const fields = await made(makeLend(this.secrets[seat], this.sealing, lend, this.hands[d][seat], this.xs[receiver]))
    this.sealing.lend(seat, { d, receiver, ...fields })
    return same(fields.box, hex(box))
  }

  /** Whether the link of every seat makes its steps again. */
  async isHonest() {
    for (const [seat, link] of this.links.entries()) {
      const opened = { seat, link, xs: this.xs }
      if (multiplyAhead !== null) await multiplyAhead(judgingProducts(this.sealing, opened))
      if (!isHonest(this.sealing, opened)) return false
    }
    return true
  }
}

/** @param {{ points: Uint8Array[] }} fields @param {any} step */
const isMask = ({ points }, step) =>
  toHex(sha256(concatAll(points))) === step.sha256 && isTold(points.slice(0, step.points.length), step.points)

/** @param {Test} t */
async function isDeal(t) {
  const deal = new Deal(t)
  for (const step of t.steps) if (!await deal.take(step)) return false
  const up = deal.sealing.places.filter(({ seat }) => seat === null).map((place) => deal.cardOf(place))
  return isTold([deal.sealing.order, deal.hands, up, deal.leaves], [t.order, t.hands, t.up, t.leaves]) && deal.isHonest()
}

/** @param {Test} t @param {any} group */
function isOpening(t, group) {
  const { mid, j, deck, place, point, locked, commitments } = group
  const call = { mid: hex(mid), j, deck, seats: commitments.length, dealer: commitments.length - 1, ncards: 3, cut: 0, up: 0, isUnseen: false }
  const digests = commitments.map((/** @type {[number, string]} */ [seat, digest]) => [seat, hex(digest)])
  const bound = { p: place, d: 0, seat: 0, slot: 0, P: hex(point), Q: hex(locked), digests }
  return new Sealing(call).opens(bound, t.card, t.keys.map(hex))
}

/** @type {Record<string, (t: Test, group: any) => boolean | Promise<boolean>>} */
export const BLIND_GROUPS = {
  rep: (t) => isTold(rep(littleEndian(hex(t.number))), t.scalar ?? null),
  scalar: (t) => isTold(rep(scalar(t.tag, ...t.fields.map(valueOf))), t.scalar),
  fixed: (t) => isFixed(hex(t.scalar)),
  card: (t) => isTold([rep(cardScalar(t.card)), cardPoints(t.card + 1)[t.card]], [t.scalar, t.point]),
  sound: (t) => areSound([hex(t.point)]),
  'seat-secrets': areSecrets,
  'blind-deal': isDeal,
  'blind-opening': isOpening
}
