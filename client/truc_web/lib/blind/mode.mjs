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

/** Whether both sides are at their last point, so that nobody sees a card before it is played. @param {Ledger} m */
const isUnseen = (m) => m.rules.blind && m.position !== null && m.engine.atLastPoint(m.position).length === 2

/** @param {Ledger} m */
const xsOf = (m) => m.seats.map(({ x }) => /** @type {Uint8Array} */ (x))     // no seat is a guest's

/** Who must be forfeited before anything else: where the match is over, whose side has won it. @param {Ledger} m */
function exposedSeat(m) {
  if (m.exposed === null) return null
  const { seat } = m.exposed
  return m.won === null || m.won.winner === seat % 2 ? seat : null
}

/** Whether links are due, or the keys of a card: then nothing else may stand. @param {Ledger} m */
const isHeld = (m) => m.garbled !== null || isHandOver(m) || Boolean(m.hand?.blindCard)

/** @param {Ledger} m */
const isHandOver = (m) => m.phase === 'hand' && m.openHand.reading.isOver

/** Whether cards are to be lent, for a question that is still open. @param {Ledger} m @param {import('../proof/ledger.mjs').Hand} hand */
export const owesLend = (m, { shares, reading }) => shares.length > 0 && m.engine.owedShares(reading.state).length > 0

// C52, C48, C23, C43, C24; what may be ruled then, `rule` says.
/** @param {Ledger} m @param {TypedRecord} record @param {number | null} culprit */
function checkDue(m, { kind }, culprit) {
  const { hand, sealing } = m
  if (exposedSeat(m) !== null) return m.must(kind === 'release' || kind === 'rule', 'C52', culprit)
  if (sealing === null || m.won !== null) return
  if (m.garbled !== null) return m.must(kind === 'release' || kind === 'rule', 'C48', culprit)
  if (hand === null) return
  if (hand.blindCard !== null) m.must(kind === 'keys' || INSTEAD.includes(kind), 'C23', culprit)
  if (owesLend(m, hand)) m.must(kind === 'lend' || INSTEAD.includes(kind), 'C43', culprit)
  if (hand.reading.isOver) m.must(['release', 'close', 'rule'].includes(kind), 'C24', culprit)
}

/** @param {Ledger} m @param {any} f */
function call(m, f) {
  CALLS.call(m, f)
  if (!m.drawn) return
  const { dealer, ncards, cut } = f
  const { deck, up } = m.rules
  m.sealing = new Sealing({ mid: m.mid, j: f.j, deck, seats: m.seats.length, dealer, ncards, cut, up, isUnseen: isUnseen(m) })
}

/** C43: the step is due. @param {Ledger} m @param {string} kind @param {{ seat: number, d: number }} place */
function stepDue(m, kind, { seat, d }) {
  const { sealing } = m
  m.must(sealing !== null && sealing.isDue(kind, seat, d), 'C43')
  return sealing
}

// C45, C44.
/** @param {Ledger} m @param {Sealing} sealing @param {Uint8Array[]} points */
function checkPoints(m, sealing, points) {
  m.must(sealing.areNew(points), 'C45')
  m.must(areSound(points), 'C44')
}

// C43, C45, C44.
/** @param {Ledger} m @param {any} f */
function mask(m, f) {
  const sealing = stepDue(m, 'mask', { seat: f.seat, d: 0 })
  m.must(f.points.length === 2 * m.rules.deck, 'C43')
  checkPoints(m, sealing, f.points)
  sealing.mask(f)
}

// C43, C45, C44.
/** @param {Ledger} m @param {any} f */
function lock(m, f) {
  const sealing = stepDue(m, 'lock', f)
  const turn = /** @type {import('./sealing.mjs').LockTurn} */ (sealing.turns[0])
  const size = sealing.sizeOf(turn)
  m.must((f.nonce !== null) === turn.hasNonce && f.points.length === size && f.commitments.length === size, 'C43')
  checkPoints(m, sealing, f.points)
  sealing.lock(f)
}

// C43, C44, C45, C46.
/** @param {Ledger} m @param {any} f */
function keys(m, f) {
  const sealing = stepDue(m, 'keys', f)
  const { shown, dealt } = sealing.round
  /** @type {{ seat: number, box: Uint8Array | null, opened: Uint8Array[], boxes: Uint8Array[] }} */
  const { seat, box, opened, boxes } = f
  const isShaped = (box !== null) === (dealt !== null) && opened.length === shown.length &&
    boxes.length === (dealt === null ? 0 : m.seats.length)
  m.must(isShaped, 'C43')
  const points = box === null ? [] : [box]
  m.must(areSound(points), 'C44')
  m.must(sealing.areNew(points), 'C45')
  const length = TAG_AND_HEADER + KEY * sealing.call.ncards
  m.must(shown.every((place, i) => sealing.isKey(place, seat, opened[i])), 'C46')
  m.must(boxes.every((one, other) => one.length === (other === seat ? 0 : length)), 'C46')
  sealing.keys(seat, f)
  if (sealing.isComplete && m.hand?.blindCard) see(m, sealing, m.hand)
}

// The card that was played unseen is open, by the key of each seat; none, or one that is open already, garbles the hand.
/** @param {Ledger} m @param {Sealing} sealing @param {import('../proof/ledger.mjs').Hand} hand */
function see(m, sealing, hand) {
  const [place] = sealing.round.shown
  const given = sealing.givenOf(place)
  const card = cardIn(sealing, place, given)
  hand.blindCard = null
  if (card === null) {
    m.garbled = { seat: null }
    return
  }
  m.mode.openCard(m, /** @type {number} */ (place.seat), [place.slot, card, given])
  if (m.garbled === null) hand.reading.see(card)
}

// C43; what is in it, the giver's link shows (C50).
/** @param {Ledger} m @param {any} f */
function lend(m, f) {
  const { openHand: hand, sealing } = m
  const [due] = hand.shares
  m.must(owesLend(m, hand) && due[0] === f.seat && due[1] === f.receiver && f.d === hand.deals.length - 1, 'C43')
  hand.shares.shift()
  sealing?.lend(f.seat, f)
}

// C43, C48.
/** @param {Ledger} m @param {any} f */
function garbled(m, f) {
  const { sealing } = m
  m.must(sealing !== null && f.d === sealing.d, 'C43')
  m.must(sealing.isComplete, 'C48')
  m.garbled = { seat: f.seat }
}

// C15, C49, C14; then C50 exposes, or what all links show together. The same release again may be anybody's doing.
/** @param {Ledger} m @param {any} f */
function release(m, f) {
  const { sealing } = m
  if (!m.drawn && m.phase === 'called') return CALLS.release(m, f)
  const before = m.links.get(f.seat + 1)
  m.must(sealing !== null && before === undefined, 'C15', before !== undefined && same(before, f.link) ? null : m.blame)
  m.must(m.garbled !== null || m.won !== null || isHandOver(m), 'C49')
  m.openLink(f.seat + 1, f.link)
  // who was exposed first is (blind.md, "Exposed"): later links change nothing
  if (m.exposed !== null) return
  if (!isHonest(sealing, { seat: f.seat, link: f.link, xs: xsOf(m) })) m.exposed = { seat: f.seat, kind: 'cheat' }
  else if (silentSeats(m).length === 0) m.exposed = exposedByAll(m, sealing)
}

// With all links open and no step that differs, no hand is garbled; and all cards are known, and with them every move.
/** @param {Ledger} m @param {Sealing} sealing @returns {import('../proof/ledger.mjs').Exposed | null} */
function exposedByAll(m, sealing) {
  const { hand } = m
  if (m.garbled !== null && m.garbled.seat !== null) return { seat: m.garbled.seat, kind: 'cheat' }
  if (hand === null) return null
  hand.dealt = hand.deals.map(({ up, leaves }, d) => ({ up, leaves, hands: dealtBy(sealing, m.links, d) }))
  const denied = hand.reading.denied((d) => cardsOf(hand, d))
  return denied === null ? null : { seat: denied, kind: 'false' }
}

// Under the call of a hand: C15, C16.
/** @param {Ledger} m @param {any} f */
function draw(m, f) {
  m.must(m.sealing === null || m.sealing.isComplete, 'C15')
  m.must(m.sealing === null, 'C16')
  CALLS.draw(m, f)
}

// C16, C15 or C17, C15, C47, C17.
/** @param {Ledger} m @param {any} f */
function deal(m, f) {
  m.must(m.drawn, 'C16')
  const { sealing } = m
  const isFirst = m.phase === 'called'
  m.must(isFirst || m.openHand.reading.awaitsDeal, 'C17')
  m.must(sealing !== null && sealing.isComplete, 'C15')
  const { dealer, ncards, cut } = sealing.call
  /** @type {{ leaves: Uint8Array[][], up: number[], boxes: Uint8Array[] }} */
  const { leaves, up, boxes } = f
  const turned = sealing.newest.filter(({ seat }) => seat === null)
  const own = sealing.leaves()
  const isSame = leaves.length === own.length && leaves.every((some, q) =>
    some.length === own[q].length && some.every((leaf, slot) => same(leaf, own[q][slot])))
  const areUp = up.length === turned.length && turned.every((place, i) =>
    up[i] < m.rules.deck && sealing.opens(place, up[i], sealing.givenOf(place)))
  m.must(isSame && areUp, 'C47')
  m.must(f.d === sealing.d && f.dealer === dealer && f.ncards === ncards && f.cut === cut, 'C17')
  m.must(boxes.length === m.seats.length && boxes.every((box) => box.length === 0), 'C17')
  if (isFirst) m.hand = newHand(m, f.j)
  lay(m, f, isUnseen(m))
}

// C19. A card that lies open already is no fault of who opens it, and is not played.
/** @param {Ledger} m @param {number} seat @param {import('../proof/records.mjs').Opening} opening */
function openCard(m, seat, [slot, card, given]) {
  const { openHand: hand, openDeal: { d, opened }, sealing } = m
  m.must(slot < hand.ncards && !opened[seat].has(slot), 'C19')
  m.must(sealing !== null && sealing.opens(sealing.placeOf(d, seat, slot), card, given), 'C19')
  if (hand.open.has(card)) {
    m.garbled = { seat: null }
    return
  }
  opened[seat].add(slot)
  hand.open.add(card)
  hand.reading.know(seat, slot, card)
}

// The keys of a card that is played unseen go to all. And if new cards are granted, their places are to be locked.
/** @param {Ledger} m @param {any} f */
function act(m, f) {
  HANDS.act(m, f)
  const { hand, sealing } = m
  if (hand === null || sealing === null) return
  if (hand.reading.awaitsDeal && sealing.d < hand.deals.length) sealing.begin()
  if (hand.blindCard === null) return
  const { seat, slot } = hand.blindCard
  sealing.ask({ d: sealing.d, shown: [sealing.placeOf(sealing.d, seat, slot)], dealt: null })
}

// C52, then as in mode `dealt`. Where only links or keys may follow nothing is left to rule but the end, before a deal and once
// the match is over only what this mode asks for; and what a hand has won is abandoned only for want of its links, or for a cheat.
/** @param {Ledger} m @param {any} f */
function rule(m, f) {
  const exposed = exposedSeat(m)
  const { ruling, seat, kind } = f
  const isEnd = ruling === 'forfeit' || ruling === 'abandon'
  m.must(m.exposed === null || m.sealing === null || (isEnd && (seat === null || seat === m.exposed.seat)), 'C52')
  const isCalled = m.phase === 'called'
  m.must(isEnd || !(isCalled || isHeld(m)), 'C22')
  m.must(m.won === null || (exposed !== null && ruling === 'forfeit'), 'C22')
  m.must(ruling !== 'forfeit' || !(isCalled || m.won !== null) || OF_THIS_MODE.includes(kind), 'C22')
  const isWon = m.hand !== null && m.hand.reading.state.winner !== null
  m.must(ruling !== 'abandon' || !isWon || (exposed === null ? kind === 'empty' && bothOwe(m) : kind === 'server'), 'C22')
  RULINGS.rule(m, f)
  if (m.won === null || !isCalled) return
  endIndex(m)     // what was not dealt nobody may open
  m.index += 1     // a call has used its index, also without a deal
}

// The seats that owe a lock or keys once nothing is void any more, or their release at the end.
/** @param {Ledger} m @returns {number[]} */
function owing(m) {
  const { sealing } = m
  if (sealing === null || m.won !== null) return []
  if (m.garbled !== null || isHandOver(m)) return silentSeats(m)
  if (sealing.isLocked) return [...sealing.giving]
  return sealing.d > 0 ? [sealing.turns[0].seat] : []
}

/** Whether seats of both sides owe something. @param {Ledger} m */
const bothOwe = (m) => [0, 1].every((side) => owing(m).some((seat) => seat % 2 === side))

/** @param {Ledger} m @param {number} seat */
function owesAlone(m, seat) {
  const seats = owing(m)
  return seats.includes(seat) && seats.every((other) => other % 2 === seat % 2)
}

/** @param {Exposed['kind']} kind @returns {(m: Ledger, seat: number) => boolean} */
const isExposed = (kind) => (m, seat) => exposedSeat(m) === seat && m.exposed?.kind === kind
/** @typedef {import('../proof/ledger.mjs').Exposed} Exposed */

const OF_THIS_MODE = ['opening', 'cheat', 'false']     // kinds of forfeit

/** @type {import('../proof/rulings.mjs').Row[]} */
const ROWS_BESIDE = [
  ['forfeit', 'opening', owesAlone],
  ['forfeit', 'cheat', isExposed('cheat')],
  ['forfeit', 'false', isExposed('false')],
  ['abandon', 'empty', (m) => isEmpty(m) || bothOwe(m)]
]

// The seat whose mask or lock of sub-deal 0 is due, alone.
/** @param {Ledger} m */
function missing(m) {
  if (m.sealing === null) return silentSeats(m)
  const [turn] = m.sealing.turns
  return turn !== undefined && m.sealing.d === 0 ? [turn.seat] : []
}

/** @param {Ledger} m @param {any} f */
function voided(m, f) {
  CALLS.void(m, f)
  m.sealing = null
}

// C24, C14, C24: the hand as it was played again when its last link was opened; of one that was ended, as far as it came.
/** @param {Ledger} m @param {any} f */
function close(m, f) {
  const { hand } = m
  m.must(hand !== null, 'C24')
  m.openServerLink(f.link)
  const { reading } = hand
  const isEnded = m.phase === 'over'
  const closed = silentSeats(m)
  m.must((isEnded || (reading.isOver && closed.length === 0)) && f.reason === (isEnded ? 'ended' : 'hand'), 'C24')
  m.must((isEnded && reading.isUnsure) || isScore(reading.score, f.score), 'C24')
  settleIndex(m)
  if (hand.dealt !== undefined) m.hands.push(hand)
  endHand(m, f, reading.state)
}

/** The open index is over; who has not opened it is kept. @param {Ledger} m */
function settleIndex(m) {
  const seats = silentSeats(m)
  if (seats.length > 0) m.unopened.push({ j: m.index, seats })
  endIndex(m)
}

/** @param {Ledger} m */
function endIndex(m) {
  m.sealing = null
  m.garbled = null
}

/** @param {Ledger} m @param {Raw} raw */
async function prepare(m, raw) {
  if (multiplyAhead !== null) await multiplyAhead(productsOf(m, raw))
}

// What a record will ask to be multiplied, as far as that is much.
/** @param {Ledger} m @param {Raw} raw @returns {import('./group.mjs').Product[]} */
function productsOf(m, raw) {
  const { sealing } = m
  try {
    const { kind, fields } = readRecord(raw)
    if (kind === 'call') return cardProducts(m.rules.deck)
    if (kind === 'mask' || kind === 'lock') return soundProducts(fields.points)
    if (kind !== 'release' || sealing === null) return []
    return judgingProducts(sealing, { seat: fields.seat, link: fields.link, xs: xsOf(m) })
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
  rolesOf: (m) => allRoles(m).filter((role) => role !== SERVER || !m.drawn),
  missing,
  voidReasons: (m) => m.sealing === null ? ['silent', 'link'] : ['silent', 'link', 'points'],
  isOpened: () => false,
  openCard,
  checkDue,
  prepare
}
