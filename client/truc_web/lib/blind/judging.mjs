// Mode blind, "How a seat is judged" (C50): from its link and the steps of the index everything that the seat did is made
// again. And the cards that all links together tell.

import { same } from '../bytes.mjs'
import { openOnce } from '../proof/boxes.mjs'
import { Malformed, encode } from '../proof/encoding.mjs'
import { multiplyAll } from '../platform.mjs'
import { shape } from '../proof/shapes.mjs'
import { rep } from './group.mjs'
import { lendBoxKey, makeKeys, makeLock, makeMask } from './making.mjs'
import { secretsOf } from './secrets.mjs'

/** @typedef {import('./sealing.mjs').Sealing} Sealing */
/** @typedef {import('./sealing.mjs').Step} Step */
/** @typedef {import('./secrets.mjs').Secrets} Secrets */
/** @typedef {import('./making.mjs').OpenedCard} OpenedCard */
/** @typedef {import('../proof/boxes.mjs').HeldCard} HeldCard */

const NO_SALT = new Uint8Array(0)

/**
 * A step to be judged: what has to be multiplied for it, and whether the points show it to be the link's.
 *
 * @typedef {{ products: import('./group.mjs').Product[], isSame: (points: Uint8Array[]) => boolean }} Claim
 */

/**
 * A link as it is judged: of which seat, with the keys x of all seats.
 *
 * @typedef {{ seat: number, link: Uint8Array, xs: Uint8Array[] }} Opened
 */

/** @param {import('./making.mjs').Making<any>} making @param {any} fields of the step that was taken @returns {Claim} */
const claimOf = ({ products, finish }, fields) => ({
  products,
  isSame: (points) => same(encode(Object.values(finish(points))), encode(Object.values(fields)))
})

/** @param {Sealing} sealing @param {Secrets} secrets @param {Step} step @param {Uint8Array[]} xs @returns {Claim} */
function claimOn(sealing, secrets, step, xs) {
  switch (step.kind) {
    case 'mask': return claimOf(makeMask(secrets, step.before), step.fields)
    case 'lock': return claimOf(makeLock(secrets, sealing, step.turn, step.before), step.fields)
    case 'keys': return claimOf(makeKeys(secrets, sealing, step.seat, step.round, xs), step.fields)
    case 'lend': return {
      products: [[rep(secrets.box(step.fields.d)), xs[step.fields.receiver]]],
      isSame: ([shared]) => lentCards(sealing, step.seat, step.fields, shared) !== null
    }
  }
}

const handShape = shape('hand [[u, [h]]]')

/**
 * The cards in a box that are lent, by slot, with the keys that open the giver's places; null if they do not.
 *
 * @param {Sealing} sealing
 * @param {number} giver
 * @param {{ d: number, receiver: number, box: Uint8Array }} lend
 * @param {Uint8Array} shared by giver and receiver
 * @returns {OpenedCard[] | null}
 */
export function lentCards(sealing, giver, { d, receiver, box }, shared) {
  const { ncards, deck } = sealing.call
  /** @type {OpenedCard[]} */
  const hand = handShape([openOnce(lendBoxKey(shared, sealing, d, giver, receiver), box)]).hand
  const areOwn = hand.length === ncards && hand.every(([card, keys], slot) =>
    card < deck && sealing.opens(sealing.placeOf(d, giver, slot), card, keys))
  return areOwn ? hand : null
}

/** @param {Sealing} sealing @param {Opened} opened */
const claimsOf = (sealing, { seat, link, xs }) => {
  const secrets = secretsOf(link, sealing.mid, sealing.j)
  return sealing.steps.filter((step) => step.seat === seat).map((step) => claimOn(sealing, secrets, step, xs))
}

/** What `isHonest` asks for. @param {Sealing} sealing @param {Opened} opened */
export const judgingProducts = (sealing, opened) => claimsOf(sealing, opened).flatMap(({ products }) => products)

/**
 * Whether every step of a seat is what its link makes.
 *
 * @param {Sealing} sealing
 * @param {Opened} opened
 */
export function isHonest(sealing, opened) {
  try {
    return claimsOf(sealing, opened).every(({ products, isSame }) => isSame(multiplyAll(products)))
  } catch (error) {
    if (!(error instanceof Malformed)) throw error     // a scalar without a number, a box that does not open
    return false
  }
}

/**
 * The card of a place, by its number, as the links of all seats tell it; of no seat a step differs.
 *
 * @param {Sealing} sealing
 * @param {Map<number, Uint8Array>} links by role
 */
export function cardAt({ mid, j, call, players, order }, links) {
  const permutations = players.map((seat) =>
    secretsOf(/** @type {Uint8Array} */ (links.get(seat + 1)), mid, j).order(call.deck))
  return (/** @type {number} */ p) => permutations.reduceRight((at, permutation) => permutation[at], order[p])
}

/**
 * The cards of a deal, by seat and slot; salts there are none.
 *
 * @param {Sealing} sealing
 * @param {Map<number, Uint8Array>} links
 * @param {number} d
 */
export function dealtBy(sealing, links, d) {
  const card = cardAt(sealing, links)
  return Array.from({ length: sealing.seats }, (_, seat) => sealing.places
    .filter((place) => place.d === d && place.seat === seat)
    .map(({ p }) => /** @type {HeldCard} */ ([card(p), NO_SALT])))
}
