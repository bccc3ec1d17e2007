// Mode blind (docs/fairness/blind.md), "Records": what its tables ask of the records of a match, for the ledger
// (../proof/ledger.mjs). Nothing of it is loaded before a table is of this mode.

import { same } from '../bytes.mjs'
import { multiplyAhead } from '../platform.mjs'
import { CALLS, allRoles, lay, newHand, silentSeats } from '../proof/calls.mjs'
import { Malformed } from '../proof/encoding.mjs'
import { END, cardsOf, isScore } from '../proof/end.mjs'
import { HANDS, endHand } from '../proof/hands.mjs'
import { ACTS, CheckFailed, SERVER, readRecord } from '../proof/records.mjs'
import { ROWS, RULINGS, isEmpty } from '../proof/rulings.mjs'
import { shape } from '../proof/shapes.mjs'
import { areSound, cardProducts, soundProducts } from './group.mjs'
import { dealtBy, isHonest, judgingProducts } from './judging.mjs'
import { Sealing } from './sealing.mjs'
import { cardIn } from './own_steps.mjs'

/** @typedef {import('../proof/ledger.mjs').Ledger} Ledger */
/** @typedef {import('../proof/ledger.mjs').Raw} Raw */
/** @typedef {import('../proof/records.mjs').TypedRecord} TypedRecord */

const TAG_AND_HEADER = 17     // of a box of keys
const KEY = 34     // encoded
const INSTEAD = ['rule', 'resign', 'garbled']     // of the keys of a card, or a lend

/** Whether both sides are at their last point, so that nobody sees a card before it is played. @param {Ledger} ledger */
const isUnseen = ({ rules, position, engine }) =>
  rules.blind && position !== null && engine.atLastPoint(position).length === 2

/** @param {Ledger} ledger */
const xsOf = (ledger) => ledger.seats.map(({ x }) => /** @type {Uint8Array} */ (x))     // no seat is a guest's

/** Who must be forfeited before anything else: where the match is over, whose side has won it. @param {Ledger} ledger */
function exposedSeat(ledger) {
  if (ledger.exposed === null) return null
  const { seat } = ledger.exposed
  return ledger.won === null || ledger.won.winner === seat % 2 ? seat : null
}

/** Whether links are due, or the keys of a card: then nothing else may stand. @param {Ledger} ledger */
const isHeld = (ledger) => ledger.garbled !== null || isHandOver(ledger) || Boolean(ledger.hand?.blindCard)

/** @param {Ledger} ledger */
const isHandOver = (ledger) => ledger.phase === 'hand' && ledger.openHand.reading.isOver

/** Whether cards are to be lent, for a question that is still open. @param {Ledger} ledger @param {import('../proof/ledger.mjs').Hand} hand */
export const owesLend = (ledger, { shares, reading }) =>
  shares.length > 0 && ledger.engine.owedShares(reading.state).length > 0

// C52, C48, C23, C43, C24; what may be ruled then, `rule` says.
/** @param {Ledger} ledger @param {TypedRecord} record @param {number | null} culprit */
function checkDue(ledger, { kind }, culprit) {
  const { hand, sealing } = ledger
  if (exposedSeat(ledger) !== null) return ledger.must(kind === 'release' || kind === 'rule', 'C52', culprit)
  if (sealing === null || ledger.won !== null) return
  if (ledger.garbled !== null) return ledger.must(kind === 'release' || kind === 'rule', 'C48', culprit)
  if (hand === null) return
  if (hand.blindCard !== null) ledger.must(kind === 'keys' || INSTEAD.includes(kind), 'C23', culprit)
  if (owesLend(ledger, hand)) ledger.must(kind === 'lend' || INSTEAD.includes(kind), 'C43', culprit)
  if (hand.reading.isOver) ledger.must(['release', 'close', 'rule'].includes(kind), 'C24', culprit)
}

/** @param {Ledger} ledger @param {any} fields */
function call(ledger, fields) {
  CALLS.call(ledger, fields)
  if (!ledger.drawn) return
  const { dealer, ncards, cut } = fields
  const { deck, up } = ledger.rules
  const { mid, seats: { length: seats } } = ledger
  ledger.sealing = new Sealing({ mid, j: fields.j, deck, seats, dealer, ncards, cut, up, isUnseen: isUnseen(ledger) })
}

/** C43: the step is due. @param {Ledger} ledger @param {string} kind @param {{ seat: number, d: number }} place */
function stepDue(ledger, kind, { seat, d }) {
  const { sealing } = ledger
  ledger.must(sealing !== null && sealing.isDue(kind, seat, d), 'C43')
  return sealing
}

// C45, C44.
/** @param {Ledger} ledger @param {Sealing} sealing @param {Uint8Array[]} points */
function checkPoints(ledger, sealing, points) {
  ledger.must(sealing.areNew(points), 'C45')
  ledger.must(areSound(points), 'C44')
}

// C43, C45, C44.
/** @param {Ledger} ledger @param {any} fields */
function mask(ledger, fields) {
  const sealing = stepDue(ledger, 'mask', { seat: fields.seat, d: 0 })
  ledger.must(fields.points.length === 2 * ledger.rules.deck, 'C43')
  checkPoints(ledger, sealing, fields.points)
  sealing.mask(fields)
}

// C43, C45, C44.
/** @param {Ledger} ledger @param {any} fields */
function lock(ledger, fields) {
  const sealing = stepDue(ledger, 'lock', fields)
  const turn = /** @type {import('./sealing.mjs').LockTurn} */ (sealing.turns[0])
  const size = sealing.sizeOf(turn)
  const isWhole = fields.points.length === size && fields.commitments.length === size
  ledger.must((fields.nonce !== null) === turn.hasNonce && isWhole, 'C43')
  checkPoints(ledger, sealing, fields.points)
  sealing.lock(fields)
}

// C43, C44, C45, C46.
/** @param {Ledger} ledger @param {any} fields */
function keys(ledger, fields) {
  const sealing = stepDue(ledger, 'keys', fields)
  const { shown, dealt } = sealing.round
  /** @type {{ seat: number, box: Uint8Array | null, opened: Uint8Array[], boxes: Uint8Array[] }} */
  const { seat, box, opened, boxes } = fields
  const isShaped = (box !== null) === (dealt !== null) && opened.length === shown.length &&
    boxes.length === (dealt === null ? 0 : ledger.seats.length)
  ledger.must(isShaped, 'C43')
  const points = box === null ? [] : [box]
  ledger.must(areSound(points), 'C44')
  ledger.must(sealing.areNew(points), 'C45')
  const length = TAG_AND_HEADER + KEY * sealing.call.ncards
  ledger.must(shown.every((place, i) => sealing.isKey(place, seat, opened[i])), 'C46')
  ledger.must(boxes.every((one, other) => one.length === (other === seat ? 0 : length)), 'C46')
  sealing.keys(seat, fields)
  if (sealing.isComplete && ledger.hand?.blindCard) see(ledger, sealing, ledger.hand)
}

// The card that was played unseen is open, by the key of each seat; none, or one that is open already, garbles the hand.
/** @param {Ledger} ledger @param {Sealing} sealing @param {import('../proof/ledger.mjs').Hand} hand */
function see(ledger, sealing, hand) {
  const [place] = sealing.round.shown
  const given = sealing.givenOf(place)
  const card = cardIn(sealing, place, given)
  hand.blindCard = null
  if (card === null) {
    ledger.garbled = { seat: null }
    return
  }
  ledger.mode.openCard(ledger, /** @type {number} */ (place.seat), [place.slot, card, given])
  if (ledger.garbled === null) hand.reading.see(card)
}

// C43; what is in it, the giver's link shows (C50).
/** @param {Ledger} ledger @param {any} fields */
function lend(ledger, fields) {
  const { openHand: hand, sealing } = ledger
  const [due] = hand.shares
  const isDue = owesLend(ledger, hand) && due[0] === fields.seat && due[1] === fields.receiver
  ledger.must(isDue && fields.d === hand.deals.length - 1, 'C43')
  hand.shares.shift()
  sealing?.lend(fields.seat, fields)
}

// C43, C48.
/** @param {Ledger} ledger @param {any} fields */
function garbled(ledger, fields) {
  const { sealing } = ledger
  ledger.must(sealing !== null && fields.d === sealing.d, 'C43')
  ledger.must(sealing.isComplete, 'C48')
  ledger.garbled = { seat: fields.seat }
}

// C15, C49, C14; then C50 exposes, or what all links show together. The same release again may be anybody's doing.
/** @param {Ledger} ledger @param {any} fields */
function release(ledger, fields) {
  const { sealing } = ledger
  if (!ledger.drawn && ledger.phase === 'called') return CALLS.release(ledger, fields)
  ledger.must(sealing !== null, 'C15')     // the links are still those of the index before
  const before = ledger.links.get(fields.seat + 1)
  const isRepeat = before !== undefined && same(before, fields.link)
  ledger.must(before === undefined, 'C15', isRepeat ? null : ledger.blame)
  ledger.must(ledger.garbled !== null || ledger.won !== null || isHandOver(ledger), 'C49')
  ledger.openLink(fields.seat + 1, fields.link)
  // the first seat that is exposed stays the one (blind.md, "Records"): later links change nothing
  if (ledger.exposed !== null) return
  const { seat, link } = fields
  if (!isHonest(sealing, { seat, link, xs: xsOf(ledger) })) ledger.exposed = { seat, kind: 'cheat' }
  else if (silentSeats(ledger).length === 0) ledger.exposed = exposedByAll(ledger, sealing)
}

// With all links open and no step that differs, no hand is garbled; and all cards are known, and with them every move.
/** @param {Ledger} ledger @param {Sealing} sealing @returns {import('../proof/ledger.mjs').Exposed | null} */
function exposedByAll(ledger, sealing) {
  const { hand } = ledger
  if (ledger.garbled !== null && ledger.garbled.seat !== null) return { seat: ledger.garbled.seat, kind: 'cheat' }
  if (hand === null) return null
  hand.dealt = hand.deals.map(({ up, leaves }, d) => ({ up, leaves, hands: dealtBy(sealing, ledger.links, d) }))
  const denied = hand.reading.denied((d) => cardsOf(hand, d))
  return denied === null ? null : { seat: denied, kind: 'false' }
}

// Under the call of a hand: C15, C16.
/** @param {Ledger} ledger @param {any} fields */
function draw(ledger, fields) {
  ledger.must(ledger.sealing === null || ledger.sealing.isComplete, 'C15')
  ledger.must(ledger.sealing === null, 'C16')
  CALLS.draw(ledger, fields)
}

// C16, C15 or C17, C15, C47, C17.
/** @param {Ledger} ledger @param {any} fields */
function deal(ledger, fields) {
  ledger.must(ledger.drawn, 'C16')
  const { sealing } = ledger
  const isFirst = ledger.phase === 'called'
  ledger.must(isFirst || ledger.openHand.reading.awaitsDeal, 'C17')
  ledger.must(sealing !== null && sealing.isComplete, 'C15')
  const { dealer, ncards, cut } = sealing.call
  /** @type {{ leaves: Uint8Array[][], up: number[], boxes: Uint8Array[] }} */
  const { leaves, up, boxes } = fields
  const turned = sealing.newest.filter(({ seat }) => seat === null)
  const own = sealing.leaves()
  const isSame = leaves.length === own.length && leaves.every((some, q) =>
    some.length === own[q].length && some.every((leaf, slot) => same(leaf, own[q][slot])))
  const areUp = up.length === turned.length && turned.every((place, i) =>
    up[i] < ledger.rules.deck && sealing.opens(place, up[i], sealing.givenOf(place)))
  ledger.must(isSame && areUp, 'C47')
  ledger.must(fields.d === sealing.d && fields.dealer === dealer && fields.ncards === ncards && fields.cut === cut, 'C17')
  ledger.must(boxes.length === ledger.seats.length && boxes.every((box) => box.length === 0), 'C17')
  if (isFirst) ledger.hand = newHand(ledger, fields.j)
  lay(ledger, fields, isUnseen(ledger))
}

// C19. A card that lies open already is no fault of who opens it, and is not played.
/** @param {Ledger} ledger @param {number} seat @param {import('../proof/records.mjs').Opening} opening */
function openCard(ledger, seat, [slot, card, given]) {
  const { openHand: hand, openDeal: { d, opened }, sealing } = ledger
  ledger.must(slot < hand.ncards && !opened[seat].has(slot), 'C19')
  ledger.must(sealing !== null && sealing.opens(sealing.placeOf(d, seat, slot), card, given), 'C19')
  if (hand.open.has(card)) {
    ledger.garbled = { seat: null }
    return
  }
  opened[seat].add(slot)
  hand.open.add(card)
  hand.reading.know(seat, slot, card)
}

// The keys of a card that is played unseen go to all. And if new cards are granted, their places are to be locked.
/** @param {Ledger} ledger @param {any} fields */
function act(ledger, fields) {
  HANDS.act(ledger, fields)
  const { hand, sealing } = ledger
  if (hand === null || sealing === null) return
  if (hand.reading.awaitsDeal && sealing.d < hand.deals.length) sealing.begin()
  if (hand.blindCard === null) return
  const { seat, slot } = hand.blindCard
  sealing.ask({ d: sealing.d, shown: [sealing.placeOf(sealing.d, seat, slot)], dealt: null })
}

// C52, then as in mode `dealt`. Where only links or keys may follow nothing is left to rule but the end, before a deal and once
// the match is over only what this mode asks for; and what a hand has won is abandoned only for want of its links, or for a cheat.
/** @param {Ledger} ledger @param {any} fields */
function rule(ledger, fields) {
  const exposed = exposedSeat(ledger)
  const { ruling, seat, kind } = fields
  const isEnd = ruling === 'forfeit' || ruling === 'abandon'
  const isOfExposed = ledger.exposed === null || seat === null || seat === ledger.exposed.seat
  ledger.must(ledger.exposed === null || ledger.sealing === null || (isEnd && isOfExposed), 'C52')
  const isCalled = ledger.phase === 'called'
  ledger.must(isEnd || !(isCalled || isHeld(ledger)), 'C22')
  ledger.must(ledger.won === null || (exposed !== null && ruling === 'forfeit'), 'C22')
  ledger.must(ruling !== 'forfeit' || !(isCalled || ledger.won !== null) || OF_THIS_MODE.includes(kind), 'C22')
  const isWon = ledger.hand !== null && ledger.hand.reading.state.winner !== null
  const mayAbandon = exposed === null ? kind === 'empty' && bothOwe(ledger) : kind === 'server'
  ledger.must(ruling !== 'abandon' || !isWon || mayAbandon, 'C22')
  RULINGS.rule(ledger, fields)
  if (ledger.won === null || !isCalled) return
  endIndex(ledger)     // what was not dealt nobody may open
  ledger.index += 1     // a call has used its index, also without a deal
}

// The seats that owe a lock or keys once nothing is void any more, or their release at the end.
/** @param {Ledger} ledger @returns {number[]} */
function owing(ledger) {
  const { sealing } = ledger
  if (sealing === null || ledger.won !== null) return []
  if (ledger.garbled !== null || isHandOver(ledger)) return silentSeats(ledger)
  if (sealing.isLocked) return [...sealing.giving]
  return sealing.d > 0 ? [sealing.turns[0].seat] : []
}

/** Whether seats of both sides owe something. @param {Ledger} ledger */
const bothOwe = (ledger) => [0, 1].every((side) => owing(ledger).some((seat) => seat % 2 === side))

/** @param {Ledger} ledger @param {number} seat */
function owesAlone(ledger, seat) {
  const seats = owing(ledger)
  return seats.includes(seat) && seats.every((other) => other % 2 === seat % 2)
}

/** @param {Exposed['kind']} kind @returns {(ledger: Ledger, seat: number) => boolean} */
const isExposed = (kind) => (ledger, seat) => exposedSeat(ledger) === seat && ledger.exposed?.kind === kind
/** @typedef {import('../proof/ledger.mjs').Exposed} Exposed */

const OF_THIS_MODE = ['opening', 'cheat', 'false']     // kinds of forfeit

/** @type {import('../proof/rulings.mjs').Row[]} */
const ROWS_BESIDE = [
  ['forfeit', 'opening', owesAlone],
  ['forfeit', 'cheat', isExposed('cheat')],
  ['forfeit', 'false', isExposed('false')],
  ['abandon', 'empty', (ledger) => isEmpty(ledger) || bothOwe(ledger)]
]

// The seat whose mask or lock of sub-deal 0 is due, alone.
/** @param {Ledger} ledger */
function missing(ledger) {
  if (ledger.sealing === null) return silentSeats(ledger)
  const [turn] = ledger.sealing.turns
  return turn !== undefined && ledger.sealing.d === 0 ? [turn.seat] : []
}

/** @param {Ledger} ledger @param {any} fields */
function voided(ledger, fields) {
  CALLS.void(ledger, fields)
  ledger.sealing = null
}

// C24, C14, C24: the hand as it was played again when its last link was opened; of one that was ended, as far as it came.
/** @param {Ledger} ledger @param {any} fields */
function close(ledger, fields) {
  const { hand } = ledger
  ledger.must(hand !== null, 'C24')
  ledger.openServerLink(fields.link)
  const { reading } = hand
  const isEnded = ledger.phase === 'over'
  const closed = silentSeats(ledger)
  ledger.must((isEnded || (reading.isOver && closed.length === 0)) && fields.reason === (isEnded ? 'ended' : 'hand'), 'C24')
  ledger.must((isEnded && reading.isUnsure) || isScore(reading.score, fields.score), 'C24')
  settleIndex(ledger)
  if (hand.dealt !== undefined) ledger.hands.push(hand)
  endHand(ledger, fields, reading.state)
}

/** The open index is over; who has not opened it is kept. @param {Ledger} ledger */
function settleIndex(ledger) {
  const seats = silentSeats(ledger)
  if (seats.length > 0) ledger.unopened.push({ j: ledger.index, seats })
  endIndex(ledger)
}

/** @param {Ledger} ledger */
function endIndex(ledger) {
  ledger.sealing = null
  ledger.garbled = null
}

/** @param {Ledger} ledger @param {Raw} raw */
async function prepare(ledger, raw) {
  if (multiplyAhead !== null) await multiplyAhead(productsOf(ledger, raw))
}

// What a record will ask to be multiplied, as far as that is much.
/** @param {Ledger} ledger @param {Raw} raw @returns {import('./group.mjs').Product[]} */
function productsOf(ledger, raw) {
  const { sealing } = ledger
  try {
    const { kind, fields } = readRecord(raw)
    if (kind === 'call') return cardProducts(ledger.rules.deck)
    if (kind === 'mask' || kind === 'lock') return soundProducts(fields.points)
    if (kind !== 'release' || sealing === null) return []
    return judgingProducts(sealing, { seat: fields.seat, link: fields.link, xs: xsOf(ledger) })
  } catch (error) {
    if (!(error instanceof Malformed || error instanceof CheckFailed)) throw error
    return []     // `take` will say why
  }
}

/** @type {import('../proof/ledger.mjs').Mode} */
export const BLIND = {
  never: ['guest', 'proxy', 'open', 'share'],
  also: { release: ['hand', 'over'], rule: ['called', 'over'] },
  take: {
    ...CALLS, ...HANDS, ...RULINGS, ...END, call, mask, lock, keys, lend, garbled, release, draw, deal, act, rule, void: voided,
    close
  },
  acts: new Map([
    ...ACTS,
    ['play', shape('slot u, card u, keys [h], ask stake?')],
    ['show', shape('openings [[u, u, [h]]]')]
  ]),
  rulings: [...ROWS_BESIDE, ...ROWS],
  rulesOf: (rules) => ({ ...rules, absent: 'concede', ownerShows: false }),
  rolesOf: (ledger) => allRoles(ledger).filter((role) => role !== SERVER || !ledger.drawn),
  missing,
  voidReasons: (ledger) => ledger.sealing === null ? ['silent', 'link'] : ['silent', 'link', 'points'],
  isOpened: () => false,
  openCard,
  checkDue,
  prepare
}
