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

/** C2 of the args of an act or a ruled move. @param {Ledger} ledger @param {any} fields */
export function argsOf(ledger, fields) {
  try {
    return readArgs(fields.kind, fields.args, ledger.rules.deck, ledger.mode.acts)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    ledger.must(false, 'C2')
  }
}

// C2, C29, C20, C19, C25, C20.
/** @param {Ledger} ledger @param {any} fields */
function act(ledger, fields) {
  const { seat, kind } = fields
  const args = argsOf(ledger, fields)
  if (kind === 'pause') ledger.must(!ledger.paused && !ledger.askedPause.has(seat), 'C29')
  else if (kind === 'resume') ledger.must(ledger.paused && !ledger.asking.has(seat), 'C29')
  else if (kind !== 'resign') ledger.must(!ledger.paused, 'C29')
  // asking for a pause, or for its end, breaks no row of ruled moves (keyed-client.md, 6)
  if (!ANYTIME.includes(kind)) {
    ledger.must(ledger.drawn && args.p !== 0, 'C20')
    ledger.seats[seat].ruled = 0
    openArgs(ledger, seat, kind, args)
    if (ledger.garbled !== null) return     // mode blind: the card lies open already
    ledger.must(ledger.phase !== 'hand' || ledger.openHand.reading.act(seat, kind, args), 'C20')
    decide(ledger, seat, kind, args)
  } else if (kind === 'pause') {
    ledger.askedPause.add(seat)
    ledger.asking.add(seat)
  } else if (kind === 'resume') {
    ledger.asking.add(seat)
  } else if (kind === 'resign') {
    ledger.must(ledger.keyOf(seat + 1) === null, 'C20')
    ledger.seats[seat].ruled = 0
    ledger.giveUp(seat, 'resigned')
  }
}

/** @param {Ledger} ledger @param {any} fields */
function proxy(ledger, fields) {
  ledger.tell('proxy', `${fields.kind} for seat ${fields.seat}`)
  act(ledger, fields)
}

// The cards that an act or a ruled move opens. Where nothing is dealt there is no card (C19), and nothing to decide but
// what comes before a call (C20).
/** @param {Ledger} ledger @param {number} seat @param {string} kind @param {any} args */
export function openArgs(ledger, seat, kind, args) {
  if (ledger.phase === 'between' && BEFORE_CALL.includes(kind)) return
  /** @type {import('./records.mjs').Opening[]} */
  const openings = kind === 'play' ? [[args.slot, args.card, args.salt ?? args.keys]] : args.openings ?? []
  ledger.must(ledger.hand !== null && !ledger.hand.reading.awaitsDeal, openings.length > 0 ? 'C19' : 'C20')
  ledger.must(!BEFORE_CALL.includes(kind), 'C20')
  openings.forEach((opening) => ledger.mode.openCard(ledger, seat, opening))
}

// What an act or a ruled move does.
/** @param {Ledger} ledger @param {number} seat @param {string} kind @param {any} args */
export function decide(ledger, seat, kind, args) {
  if (ledger.phase === 'between') return decideBeforeCall(ledger, seat, kind, args)
  if (kind === 'blind') ledger.openHand.blindCard = { seat, slot: args.slot }
}

// The seat before the dealer cuts or taps; after a tap the dealer says how many cards, unless a side lacks but a point.
/** @param {Ledger} ledger @param {number} seat @param {string} kind @param {any} args */
function decideBeforeCall(ledger, seat, kind, args) {
  ledger.must(ledger.decider?.seat === seat && ledger.decider.kinds.includes(kind), 'C20')
  const hasChoice = kind === 'tap' && ledger.score.every(([, , points]) => points < ledger.rules.target - 1)
  ledger.decider = hasChoice ? { seat: ledger.next.dealer, kinds: ['deal'] } : null
  if (kind === 'cut') ledger.next.cut = args.p
  if (kind === 'deal') ledger.next.ncards = args.count
}

// C19; C25: a card that lies open elsewhere in the same hand.
/**
 * @param {Ledger} ledger
 * @param {number} seat
 * @param {import('./records.mjs').Opening} opening
 */
export function openCard(ledger, seat, [slot, card, salt]) {
  const { openHand: hand, openDeal: { d, leaves, opened } } = ledger
  ledger.must(slot < hand.ncards && !opened[seat].has(slot), 'C19')
  ledger.must(same(leafOf(ledger.mid, hand.j, d, seat, slot, card, salt), leaves[seat][slot]), 'C19')
  ledger.must(!hand.open.has(card), 'C25', SERVER)
  opened[seat].add(slot)
  hand.open.add(card)
  hand.reading.know(seat, slot, card)
}

// C12, C23, C19, C25: the open of a card played blind, or under `match` those at the end of a hand, by seats and slots
// ascending. A flor that is not known may have ended it.
/** @param {Ledger} ledger @param {any} fields */
function open(ledger, fields) {
  const { openHand: hand } = ledger
  /** @type {import('./records.mjs').Opening[]} */
  const openings = fields.openings
  ledger.must(fields.d === hand.deals.length - 1, 'C12')
  const slots = openings.map(([slot]) => slot)
  if (hand.blindCard) {
    const { seat, slot } = hand.blindCard
    ledger.must(fields.seat === seat && slots.length === 1 && slots[0] === slot, 'C23')
    hand.blindCard = null
    openings.forEach((opening) => openCard(ledger, fields.seat, opening))
    hand.reading.see(openings[0][1])
    return
  }
  hand.reading.settle()
  ledger.must(ledger.rules.reveal === 'match' && !hand.isBlind && slots.length > 0 && isAscending(slots), 'C23')
  ledger.must(hand.reading.isOver || hand.reading.isUnsure, 'C23')
  ledger.must(hand.lastOpened == null || hand.lastOpened < fields.seat, 'C23')
  hand.lastOpened = fields.seat
  hand.shown.push([fields.seat, slots])
  openings.forEach((opening) => openCard(ledger, fields.seat, opening))
}

// C12, C23; what is in it, the end shows (C31).
/** @param {Ledger} ledger @param {any} fields */
function share(ledger, fields) {
  const { x } = ledger.seats[fields.receiver]
  const { openHand: hand } = ledger
  ledger.must(fields.d === hand.deals.length - 1, 'C12')
  const due = hand.shares.shift()
  ledger.must(due !== undefined && due[0] === fields.giver && due[1] === fields.receiver, 'C23')
  ledger.must((fields.box.length > 0) === (x !== null), 'C23')
  const info = shareInfo(fields.j, fields.d, fields.giver, fields.receiver)
  const { k, d, giver: owner, receiver, box } = fields
  ledger.sealed.push({ k, hand, d, owner, receiver, x, box, info })
}

/** @param {Ledger} ledger @param {any} fields */
function resign(ledger, fields) {
  ledger.giveUp(fields.seat, 'resigned')
}

// C24 where nothing is open, C14, C25, C24, C23, C24.
/** @param {Ledger} ledger @param {any} fields */
function close(ledger, fields) {
  const { hand } = ledger
  ledger.must(hand !== null, 'C24')
  ledger.openServerLink(fields.link)
  if (fields.link !== null) recompute(ledger, hand)
  hand.closed = fields
  const position = checkClose(ledger, hand, fields)
  ledger.hands.push(hand)
  endHand(ledger, fields, position)
}

/**
 * A hand is closed, in this position: the next one follows, or the end.
 *
 * @param {Ledger} ledger
 * @param {any} fields
 * @param {import('../rules/state.mjs').State} position
 */
export function endHand(ledger, fields, position) {
  const isOver = ledger.phase === 'over'
  const { openHand: hand } = ledger
  hand.isReplayed = hand.dealt !== undefined && ledger.exposed === null
  ledger.position = position
  ledger.score = fields.score
  ledger.hand = null
  ledger.askedPause.clear()
  ledger.asking.clear()
  ledger.nextHand((ledger.next.dealer + 1) % ledger.seats.length)
  if (isOver) return
  ledger.phase = 'between'
  if (position.winner !== null) return ledger.finish(position.winner, 'won')
  ledger.position = ledger.engine.nextHand(position)
  ledger.score = ledger.engine.scoreOf(ledger.position)
}

// C25, C24, C23, C24: the hand is played again with the cards that are known by now, and what it comes to is what counts.
/** @param {Ledger} ledger @param {import('./ledger.mjs').Hand} hand @param {any} fields */
function checkClose(ledger, hand, fields) {
  const { reading } = hand
  const known = reading.awaitsDeal ? null : reading.state.hand.cards
  ledger.must(reading.denied((d) => cardsOf(hand, d) ?? (d === hand.deals.length - 1 ? known : null)) === null, 'C25')
  const isEnded = ledger.phase === 'over'
  ledger.must((isEnded || reading.isOver) && fields.reason === (isEnded ? 'ended' : 'hand'), 'C24')
  ledger.must(!isEnded || reading.state.winner === null || hand.dealt === undefined, 'C24')
  if (!isEnded) {
    ledger.must(ledger.rules.reveal === 'hand' || reading.isProven, 'C23')
    ledger.must(hand.shown.every(([seat]) => reading.bound.includes(seat)), 'C23')
  }
  // what closed cards may change is compared when they are opened (C25)
  const isBelieved = isEnded && reading.isUnsure
  ledger.must(isBelieved || isScore(reading.score, fields.score), 'C24')
  return reading.state
}

export const HANDS = { act, proxy, open, share, resign, close }
