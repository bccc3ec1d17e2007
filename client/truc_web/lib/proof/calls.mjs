// Section 6: call, release, draw, deal, void, and new chains. `m` is the ledger, `f` the fields of the record.

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

/** The roles that open a link: the server and every keyed seat. @param {Ledger} m */
export const allRoles = (m) => [SERVER, ...m.seats.map((_, q) => q + 1).filter((role) => m.keyOf(role) !== null)]

// C13, C26.
/** @param {Ledger} m @param {any} f */
function call(m, f) {
  m.must(m.decider === null, 'C13')
  const { lastVoid } = m
  m.must(lastVoid === null || lastVoid.isAtDraw || m.opts.gone !== 1 || lastVoid.missing.size === 0, 'C26')
  const roles = m.mode.rolesOf(m)
  const { dealer, ncards, cut } = m.next
  m.must(f.dealer === dealer && f.ncards === ncards && f.cut === cut && sameList(f.roles, roles), 'C13')
  m.must(roles.every((role) => !m.chainOf(role).isExhausted(f.j)), 'C13')
  m.roles = roles
  m.links = new Map()
  m.lastVoid = null
  m.phase = 'called'
}

/** The keyed seats that have not released. @param {Ledger} m */
export const silentSeats = (m) => m.roles.filter((role) => role !== SERVER && !m.links.has(role)).map((role) => role - 1)

// C15, C14. The same release again may be anybody's doing.
/** @param {Ledger} m @param {any} f */
function release(m, f) {
  const before = m.links.get(f.seat + 1)
  m.must(before === undefined, 'C15', before !== undefined && same(before, f.link) ? null : m.blame)
  m.openLink(f.seat + 1, f.link)
}

// C15, C16, C14, C16.
/** @param {Ledger} m @param {any} f */
function draw(m, f) {
  m.must(silentSeats(m).length === 0, 'C15')
  m.must(!m.drawn, 'C16')
  m.openLink(SERVER, f.link)
  m.must(f.first === firstDealer(m.mid, f.j, sortedLinks(m.links), m.seats.length), 'C16')
  m.drawn = true
  m.position = m.engine.begin(m.rules, { seats: m.seats.length, dealer: f.first })
  m.phase = 'between'
  m.nextHand(f.first)
}

/** The hand that the first deal of an index begins. @param {Ledger} m @param {number} j @returns {import('./ledger.mjs').Hand} */
export function newHand(m, j) {
  const nothingYet = { isBlind: false, blindCard: null, lastOpened: null, closed: null }
  const reading = new m.engine.Reading(/** @type {import('../rules/state.mjs').State} */ (m.position))
  return { j, ...m.next, links: m.links, deals: [], open: new Set(), shown: [], shares: [], reading, ...nothingYet }
}

/** A deal has passed: its cards lie in the open hand. @param {Ledger} m @param {any} f @param {boolean} isBlind */
export function lay(m, { d, ncards, leaves, up }, isBlind) {
  const { openHand: hand, seats } = m
  hand.deals.push({ d, leaves, up, opened: seats.map(() => new Set()) })
  up.forEach((/** @type {number} */ card) => hand.open.add(card))
  hand.isBlind = isBlind
  hand.reading.deal(ncards, up)
  hand.shares = m.engine.owedShares(hand.reading.state)
  m.phase = 'hand'
}

// C16, C15, C17.
/** @param {Ledger} m @param {any} f */
function deal(m, f) {
  const isFirst = m.phase === 'called'
  m.must(m.drawn, 'C16')
  if (isFirst) {
    m.must(silentSeats(m).length === 0, 'C15')
    m.hand = newHand(m, f.j)
  }
  const { openHand: hand, seats, rules } = m
  /** @type {{ leaves: Uint8Array[][], up: number[], boxes: Uint8Array[] }} */
  const { leaves, up, boxes } = f
  const { reading } = hand
  m.must(reading.awaitsDeal && f.d === hand.deals.length, 'C17')
  m.must(f.dealer === hand.dealer && f.ncards === hand.ncards && f.cut === hand.cut, 'C17')
  m.must(leaves.length === seats.length && leaves.every((own) => own.length === f.ncards), 'C17')
  m.must(up.length === (isFirst ? rules.up : 0) && up.every((card) => card < rules.deck), 'C17')
  m.must(cardsNeeded(seats.length, f.ncards, rules.up, f.d + 1) <= rules.deck, 'C17')
  const isBlind = rules.blind && m.engine.atLastPoint(reading.state).length === 2
  const isBoxed = boxes.length === seats.length &&
    seats.every(({ x }, q) => (boxes[q].length > 0) === (x !== null && !isBlind))
  m.must(isBoxed, 'C17')
  seats.forEach(({ x }, q) => {
    if (boxes[q].length === 0) return
    m.sealed.push({ k: f.k, hand, d: f.d, owner: q, receiver: q, x, box: boxes[q], info: handInfo(f.j, f.d, q) })
  })
  lay(m, f, isBlind)
}

// C26, C14.
/** @param {Ledger} m @param {any} f */
function voided(m, f) {
  const { missing, voidReasons } = m.mode
  const silent = missing(m)
  m.must(voidReasons(m).includes(f.reason) && silent.length > 0 && sameList(f.seats, silent), 'C26')
  m.openServerLink(f.link)
  m.tell('void', `${f.reason}, seats ${f.seats.join(', ')}`)
  m.voids += 1
  m.index += 1
  m.lastVoid = { missing: new Set(silent), isAtDraw: !m.drawn, isBeyond: m.voids > m.opts.voids }
  m.phase = 'between'
}

/** @param {Ledger} m @param {Uint8Array} pk @param {any} f */
const newChain = (m, pk, f) => new Chain(pk, m.terms.tn, f.first, m.terms.links, f.anchor)

// C27, C7.
/** @param {Ledger} m @param {any} f */
function rekey(m, f) {
  const isExhausted = m.chainOf(f.role).isExhausted(m.index)
  m.must(f.first === m.index && (f.x === null) === (f.role === SERVER), 'C27')
  if (f.role === SERVER) {
    m.must(isExhausted, 'C27')
    m.used.claim(f)
    m.server.chains.push(newChain(m, m.server.pk, f))
    return
  }
  const seat = m.seats[f.role - 1]
  // an exhausted chain has to be replaced, and does not count against what the terms allow (C27)
  if (!isExhausted) seat.rekeys += 1
  m.must(seat.rekeys <= m.opts.rekeys, 'C27')
  m.used.claim(f)
  Object.assign(seat, { x: f.x, chain: newChain(m, /** @type {Uint8Array} */ (seat.pk), f) })
}

// A seat is gone that the last void named, or after opts 9 ruled moves in a row.
/** @param {Ledger} m @param {number} seat */
export const isAbsent = (m, seat) => m.opts.gone_after > 0 && m.seats[seat].ruled >= m.opts.gone_after
/** @param {Ledger} m @param {number} seat */
export const isGone = (m, seat) => Boolean(m.lastVoid?.missing.has(seat)) || isAbsent(m, seat)

// C28, C7. The admission of its key (C4) came with its signature.
/** @param {Ledger} m @param {any} f */
function sub(m, f) {
  m.must(m.opts.gone === 1 && isGone(m, f.seat) && f.first === m.index && isUtf8(f.name), 'C28')
  m.used.claim(f)
  Object.assign(m.seats[f.seat], { pk: f.pk, x: f.x, chain: newChain(m, f.pk, f), rekeys: 0, ruled: 0 })
  m.lastVoid?.missing.delete(f.seat)
  m.newcomers.set(toHex(f.pk), f.k)
}

export const CALLS = { call, release, draw, deal, void: voided, rekey, sub }
