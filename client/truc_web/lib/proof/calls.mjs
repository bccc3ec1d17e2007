// Section 6: call, release, draw, deal, void, and new chains.

import { same, toHex } from '../bytes.mjs'
import { isUtf8 } from './encoding.mjs'
import { Chain } from './chains.mjs'
import { handInfo } from './boxes.mjs'
import { cardsNeeded, firstDealer } from './deals.mjs'
import { SERVER } from './records.mjs'

/** @typedef {import('./ledger.mjs').Ledger} Ledger */

/** @type {<Item>(a: Item[], b: Item[]) => boolean} */
const sameList = (a, b) => a.length === b.length && a.every((item, i) => item === b[i])

/**
 * By roles ascending: the map fills as the releases come.
 *
 * @param {Map<number, Uint8Array>} links
 * @returns {import('./deals.mjs').Links}
 */
export const sortedLinks = (links) => [...links].sort(([a], [b]) => a - b)

/** The roles that open a link: the server and every keyed seat. @param {Ledger} ledger */
export const allRoles = (ledger) =>
  [SERVER, ...ledger.seats.map((_, q) => q + 1).filter((role) => ledger.keyOf(role) !== null)]

// C13, C26.
/** @param {Ledger} ledger @param {any} fields */
function call(ledger, fields) {
  ledger.must(ledger.decider === null, 'C13')
  const { lastVoid } = ledger
  ledger.must(lastVoid === null || lastVoid.isAtDraw || ledger.opts.gone !== 1 || lastVoid.missing.size === 0, 'C26')
  const roles = ledger.mode.rolesOf(ledger)
  const { dealer, ncards, cut } = ledger.next
  const isAsDue = fields.dealer === dealer && fields.ncards === ncards && fields.cut === cut
  ledger.must(isAsDue && sameList(fields.roles, roles), 'C13')
  ledger.must(roles.every((role) => !ledger.chainOf(role).isExhausted(fields.j)), 'C13')
  ledger.roles = roles
  ledger.links = new Map()
  ledger.lastVoid = null
  ledger.phase = 'called'
}

/** The keyed seats that have not released. @param {Ledger} ledger */
export const silentSeats = (ledger) =>
  ledger.roles.filter((role) => role !== SERVER && !ledger.links.has(role)).map((role) => role - 1)

// C15, C14. The same release again may be anybody's doing.
/** @param {Ledger} ledger @param {any} fields */
function release(ledger, fields) {
  const before = ledger.links.get(fields.seat + 1)
  ledger.must(before === undefined, 'C15', before !== undefined && same(before, fields.link) ? null : ledger.blame)
  ledger.openLink(fields.seat + 1, fields.link)
}

// C15, C16, C14, C16.
/** @param {Ledger} ledger @param {any} fields */
function draw(ledger, fields) {
  ledger.must(silentSeats(ledger).length === 0, 'C15')
  ledger.must(!ledger.drawn, 'C16')
  ledger.openLink(SERVER, fields.link)
  ledger.must(fields.first === firstDealer(ledger.mid, fields.j, sortedLinks(ledger.links), ledger.seats.length), 'C16')
  ledger.drawn = true
  ledger.position = ledger.engine.begin(ledger.rules, { seats: ledger.seats.length, dealer: fields.first })
  ledger.phase = 'between'
  ledger.nextHand(fields.first)
}

/** The hand that the first deal of an index begins. @param {Ledger} ledger @param {number} j @returns {import('./ledger.mjs').Hand} */
export function newHand(ledger, j) {
  const nothingYet = { isBlind: false, blindCard: null, lastOpened: null, closed: null, isReplayed: false }
  const reading = new ledger.engine.Reading(/** @type {import('../rules/state.mjs').State} */ (ledger.position))
  const empty = { deals: [], open: new Set(), shown: [], shares: [] }
  return { j, ...ledger.next, links: ledger.links, ...empty, reading, ...nothingYet }
}

/** A deal has passed: its cards lie in the open hand. @param {Ledger} ledger @param {any} fields @param {boolean} isBlind */
export function lay(ledger, { d, ncards, leaves, up }, isBlind) {
  const { openHand: hand, seats } = ledger
  hand.deals.push({ d, leaves, up, opened: seats.map(() => new Set()) })
  up.forEach((/** @type {number} */ card) => hand.open.add(card))
  hand.isBlind = isBlind
  hand.reading.deal(ncards, up)
  hand.shares = ledger.engine.owedShares(hand.reading.state)
  ledger.phase = 'hand'
}

// C16, C15, C17.
/** @param {Ledger} ledger @param {any} fields */
function deal(ledger, fields) {
  const isFirst = ledger.phase === 'called'
  ledger.must(ledger.drawn, 'C16')
  if (isFirst) {
    ledger.must(silentSeats(ledger).length === 0, 'C15')
    ledger.hand = newHand(ledger, fields.j)
  }
  const { openHand: hand, seats, rules } = ledger
  /** @type {{ leaves: Uint8Array[][], up: number[], boxes: Uint8Array[] }} */
  const { leaves, up, boxes } = fields
  const { reading } = hand
  ledger.must(reading.awaitsDeal && fields.d === hand.deals.length, 'C17')
  ledger.must(fields.dealer === hand.dealer && fields.ncards === hand.ncards && fields.cut === hand.cut, 'C17')
  ledger.must(leaves.length === seats.length && leaves.every((own) => own.length === fields.ncards), 'C17')
  ledger.must(up.length === (isFirst ? rules.up : 0) && up.every((card) => card < rules.deck), 'C17')
  ledger.must(cardsNeeded(seats.length, fields.ncards, rules.up, fields.d + 1) <= rules.deck, 'C17')
  const isBlind = rules.blind && ledger.engine.atLastPoint(reading.state).length === 2
  const isBoxed = boxes.length === seats.length &&
    seats.every(({ x }, q) => (boxes[q].length > 0) === (x !== null && !isBlind))
  ledger.must(isBoxed, 'C17')
  seats.forEach(({ x }, q) => {
    if (boxes[q].length === 0) return
    const info = handInfo(fields.j, fields.d, q)
    ledger.sealed.push({ k: fields.k, hand, d: fields.d, owner: q, receiver: q, x, box: boxes[q], info })
  })
  lay(ledger, fields, isBlind)
}

// C26, C14.
/** @param {Ledger} ledger @param {any} fields */
function voided(ledger, fields) {
  const { missing, voidReasons } = ledger.mode
  const silent = missing(ledger)
  ledger.must(voidReasons(ledger).includes(fields.reason) && silent.length > 0 && sameList(fields.seats, silent), 'C26')
  ledger.openServerLink(fields.link)
  ledger.tell('void', `${fields.reason}, seats ${fields.seats.join(', ')}`)
  ledger.voids += 1
  ledger.index += 1
  ledger.lastVoid = { missing: new Set(silent), isAtDraw: !ledger.drawn, isBeyond: ledger.voids > ledger.opts.voids }
  ledger.phase = 'between'
}

/** @param {Ledger} ledger @param {Uint8Array} pk @param {any} fields */
const newChain = (ledger, pk, fields) => new Chain(pk, ledger.terms.tn, fields.first, ledger.terms.links, fields.anchor)

// C27, C7.
/** @param {Ledger} ledger @param {any} fields */
function rekey(ledger, fields) {
  const isExhausted = ledger.chainOf(fields.role).isExhausted(ledger.index)
  ledger.must(fields.first === ledger.index && (fields.x === null) === (fields.role === SERVER), 'C27')
  if (fields.role === SERVER) {
    ledger.must(isExhausted, 'C27')
    ledger.used.claim(fields)
    ledger.server.chains.push(newChain(ledger, ledger.server.pk, fields))
    return
  }
  const seat = ledger.seats[fields.role - 1]
  // an exhausted chain has to be replaced, and does not count against what the terms allow (C27)
  if (!isExhausted) seat.rekeys += 1
  ledger.must(seat.rekeys <= ledger.opts.rekeys, 'C27')
  ledger.used.claim(fields)
  Object.assign(seat, { x: fields.x, chain: newChain(ledger, /** @type {Uint8Array} */ (seat.pk), fields) })
}

// A seat is gone that the last void named, or after opts 9 ruled moves in a row.
/** @param {Ledger} ledger @param {number} seat */
export const isAbsent = (ledger, seat) =>
  ledger.opts.gone_after > 0 && ledger.seats[seat].ruled >= ledger.opts.gone_after
/** @param {Ledger} ledger @param {number} seat */
export const isGone = (ledger, seat) => Boolean(ledger.lastVoid?.missing.has(seat)) || isAbsent(ledger, seat)

// C28, C7. The admission of its key (C4) came with its signature.
/** @param {Ledger} ledger @param {any} fields */
function sub(ledger, fields) {
  const mayStepIn = ledger.opts.gone === 1 && isGone(ledger, fields.seat)
  ledger.must(mayStepIn && fields.first === ledger.index && isUtf8(fields.name), 'C28')
  ledger.used.claim(fields)
  const chain = newChain(ledger, fields.pk, fields)
  Object.assign(ledger.seats[fields.seat], { pk: fields.pk, x: fields.x, chain, rekeys: 0, ruled: 0 })
  ledger.lastVoid?.missing.delete(fields.seat)
  ledger.newcomers.set(toHex(fields.pk), fields.k)
}

export const CALLS = { call, release, draw, deal, void: voided, rekey, sub }
