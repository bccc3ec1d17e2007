// Section 8: acts and proxies, opens, shares, resignations, and the close of a hand.

import { same } from '../bytes.mjs'
import { shareInfo } from './boxes.mjs'
import { Malformed } from './encoding.mjs'
import { leafOf } from './deals.mjs'
import { cardsOf, isScore, recompute } from './end.mjs'
import { SERVER, isAscending, readArgs } from './records.mjs'

/** @typedef {import('./ledger.mjs').Ledger} Ledger */

const ANYTIME = ['pause', 'resume', 'resign']
const BEFORE_CALL = ['cut', 'tap', 'deal']

/** C2 of the args of an act or a ruled move. @param {Ledger} m @param {any} f */
export function argsOf(m, f) {
  try {
    return readArgs(f.kind, f.args, m.rules.deck, m.mode.acts)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    m.must(false, 'C2')
  }
}

// C2, C29, C20, C19, C25, C20.
/** @param {Ledger} m @param {any} f */
function act(m, f) {
  const { seat, kind } = f
  const args = argsOf(m, f)
  if (kind === 'pause') m.must(!m.paused && !m.askedPause.has(seat), 'C29')
  else if (kind === 'resume') m.must(m.paused && !m.asking.has(seat), 'C29')
  else if (kind !== 'resign') m.must(!m.paused, 'C29')
  // asking for a pause, or for its end, breaks no row of ruled moves (keyed-client.md, 6)
  if (!ANYTIME.includes(kind)) {
    m.must(m.drawn && args.p !== 0, 'C20')
    m.seats[seat].ruled = 0
    openArgs(m, seat, kind, args)
    if (m.garbled !== null) return     // mode blind: the card lies open already
    m.must(m.phase !== 'hand' || m.openHand.reading.act(seat, kind, args), 'C20')
    decide(m, seat, kind, args)
  } else if (kind === 'pause') {
    m.askedPause.add(seat)
    m.asking.add(seat)
  } else if (kind === 'resume') {
    m.asking.add(seat)
  } else if (kind === 'resign') {
    m.must(m.keyOf(seat + 1) === null, 'C20')
    m.seats[seat].ruled = 0
    m.giveUp(seat, 'resigned')
  }
}

/** @param {Ledger} m @param {any} f */
function proxy(m, f) {
  m.tell('proxy', `${f.kind} for seat ${f.seat}`)
  act(m, f)
}

// The cards that an act or a ruled move opens. Where nothing is dealt there is no card (C19), and nothing to decide but
// what comes before a call (C20).
/** @param {Ledger} m @param {number} seat @param {string} kind @param {any} args */
export function openArgs(m, seat, kind, args) {
  if (m.phase === 'between' && BEFORE_CALL.includes(kind)) return
  /** @type {import('./records.mjs').Opening[]} */
  const openings = kind === 'play' ? [[args.slot, args.card, args.salt ?? args.keys]] : args.openings ?? []
  m.must(m.hand !== null && !m.hand.reading.awaitsDeal, openings.length > 0 ? 'C19' : 'C20')
  m.must(!BEFORE_CALL.includes(kind), 'C20')
  openings.forEach((opening) => m.mode.openCard(m, seat, opening))
}

// What an act or a ruled move does.
/** @param {Ledger} m @param {number} seat @param {string} kind @param {any} args */
export function decide(m, seat, kind, args) {
  if (m.phase === 'between') return decideBeforeCall(m, seat, kind, args)
  if (kind === 'blind') m.openHand.blindCard = { seat, slot: args.slot }
}

// The seat before the dealer cuts or taps; after a tap the dealer says how many cards, unless a side lacks but a point.
/** @param {Ledger} m @param {number} seat @param {string} kind @param {any} args */
function decideBeforeCall(m, seat, kind, args) {
  m.must(m.decider?.seat === seat && m.decider.kinds.includes(kind), 'C20')
  const hasChoice = kind === 'tap' && m.score.every(([, , points]) => points < m.rules.target - 1)
  m.decider = hasChoice ? { seat: m.next.dealer, kinds: ['deal'] } : null
  if (kind === 'cut') m.next.cut = args.p
  if (kind === 'deal') m.next.ncards = args.count
}

// C19; C25: a card that lies open elsewhere in the same hand.
/**
 * @param {Ledger} m
 * @param {number} seat
 * @param {import('./records.mjs').Opening} opening
 */
export function openCard(m, seat, [slot, card, salt]) {
  const { openHand: hand, openDeal: { d, leaves, opened } } = m
  m.must(slot < hand.ncards && !opened[seat].has(slot), 'C19')
  m.must(same(leafOf(m.mid, hand.j, d, seat, slot, card, salt), leaves[seat][slot]), 'C19')
  m.must(!hand.open.has(card), 'C25', SERVER)
  opened[seat].add(slot)
  hand.open.add(card)
  hand.reading.know(seat, slot, card)
}

// C12, C23, C19, C25: the open of a card played blind, or under `match` those at the end of a hand, by seats and slots
// ascending. A flor that is not known may have ended it.
/** @param {Ledger} m @param {any} f */
function open(m, f) {
  const { openHand: hand } = m
  /** @type {import('./records.mjs').Opening[]} */
  const openings = f.openings
  m.must(f.d === hand.deals.length - 1, 'C12')
  const slots = openings.map(([slot]) => slot)
  if (hand.blindCard) {
    const { seat, slot } = hand.blindCard
    m.must(f.seat === seat && slots.length === 1 && slots[0] === slot, 'C23')
    hand.blindCard = null
    openings.forEach((opening) => openCard(m, f.seat, opening))
    hand.reading.see(openings[0][1])
    return
  }
  hand.reading.settle()
  m.must(m.rules.reveal === 'match' && !hand.isBlind && slots.length > 0 && isAscending(slots), 'C23')
  m.must(hand.reading.isOver || hand.reading.isUnsure, 'C23')
  m.must(hand.lastOpened == null || hand.lastOpened < f.seat, 'C23')
  hand.lastOpened = f.seat
  hand.shown.push([f.seat, slots])
  openings.forEach((opening) => openCard(m, f.seat, opening))
}

// C12, C23; what is in it, the end shows (C31).
/** @param {Ledger} m @param {any} f */
function share(m, f) {
  const { x } = m.seats[f.receiver]
  const { openHand: hand } = m
  m.must(f.d === hand.deals.length - 1, 'C12')
  const due = hand.shares.shift()
  m.must(due !== undefined && due[0] === f.giver && due[1] === f.receiver, 'C23')
  m.must((f.box.length > 0) === (x !== null), 'C23')
  const info = shareInfo(f.j, f.d, f.giver, f.receiver)
  m.sealed.push({ k: f.k, hand, d: f.d, owner: f.giver, receiver: f.receiver, x, box: f.box, info })
}

/** @param {Ledger} m @param {any} f */
function resign(m, f) {
  m.giveUp(f.seat, 'resigned')
}

// C24 where nothing is open, C14, C25, C24, C23, C24.
/** @param {Ledger} m @param {any} f */
function close(m, f) {
  const { hand } = m
  m.must(hand !== null, 'C24')
  m.openServerLink(f.link)
  if (f.link !== null) recompute(m, hand)
  hand.closed = f
  const position = checkClose(m, hand, f)
  m.hands.push(hand)
  endHand(m, f, position)
}

/**
 * A hand is closed, in this position: the next one follows, or the end.
 *
 * @param {Ledger} m
 * @param {any} f
 * @param {import('../rules/state.mjs').State} position
 */
export function endHand(m, f, position) {
  const isOver = m.phase === 'over'
  m.position = position
  m.score = f.score
  m.hand = null
  m.askedPause.clear()
  m.asking.clear()
  m.nextHand((m.next.dealer + 1) % m.seats.length)
  if (isOver) return
  m.phase = 'between'
  if (position.winner !== null) return m.finish(position.winner, 'won')
  m.position = m.engine.nextHand(position)
  m.score = m.engine.scoreOf(m.position)
}

// C25, C24, C23, C24: the hand is played again with the cards that are known by now, and what it comes to is what counts.
/** @param {Ledger} m @param {import('./ledger.mjs').Hand} hand @param {any} f */
function checkClose(m, hand, f) {
  const { reading } = hand
  const known = reading.awaitsDeal ? null : reading.state.hand.cards
  m.must(reading.replay((d) => cardsOf(hand, d) ?? (d === hand.deals.length - 1 ? known : null)), 'C25')
  const isEnded = m.phase === 'over'
  m.must((isEnded || reading.isOver) && f.reason === (isEnded ? 'ended' : 'hand'), 'C24')
  m.must(!isEnded || reading.state.winner === null || hand.dealt === undefined, 'C24')
  if (!isEnded) {
    m.must(m.rules.reveal === 'hand' || reading.isProven, 'C23')
    m.must(hand.shown.every(([seat]) => reading.bound.includes(seat)), 'C23')
  }
  // what closed cards may change is compared when they are opened (C25)
  const isBelieved = isEnded && reading.isUnsure
  m.must(isBelieved || isScore(reading.score, f.score), 'C24')
  return reading.state
}

export const HANDS = { act, proxy, open, share, resign, close }
