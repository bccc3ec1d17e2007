// Section 9: the rulings of the server (C22).

import { isAbsent, isGone } from './calls.mjs'
import { argsOf, decide, openArgs } from './hands.mjs'

/** @typedef {import('./ledger.mjs').Ledger} Ledger */

const BEFORE_CALL = ['cut', 'deal']     // the kinds of a ruled move there

/** @param {Ledger} ledger @param {any} fields */
function rule(ledger, fields) {
  const whose = fields.seat === null ? null : `for seat ${fields.seat}`
  ledger.tell('ruling', [fields.ruling, fields.kind, whose].filter(Boolean).join(' '))
  if (fields.ruling === 'move' && fields.seat !== null && fields.kind !== null) return ruleMove(ledger, fields)
  const row = ledger.mode.rulings.find(([ruling, kind]) => ruling === fields.ruling && kind === fields.kind)
  const isOfSeat = (fields.seat !== null) === (fields.ruling === 'forfeit')
  const isRow = row !== undefined && isOfSeat && fields.args.length === 0
  ledger.must(isRow && row[2](ledger, fields.seat), 'C22')
  if (fields.ruling === 'forfeit') return ledger.giveUp(fields.seat, 'forfeit')
  if (fields.ruling === 'abandon') return ledger.finish(null, 'abandoned')
  ledger.paused = fields.ruling === 'pause'
  ledger.asking.clear()
}

/** A row of section 9, but for moves. @typedef {[ruling: string, kind: string | null, isValid: (ledger: Ledger, seat: number) => boolean]} Row */

/** @type {Row[]} */
export const ROWS = [
  ['forfeit', 'silent', isForfeitForSilence],
  ['forfeit', 'absent', isForfeitForAbsence],
  ['abandon', 'empty', isEmpty],
  ['abandon', 'voids', isBeyondVoids],
  ['abandon', 'server', () => true],
  ['pause', null, (ledger) => !ledger.paused && ledger.asking.size === ledger.seats.length],
  ['resume', null, (ledger) => ledger.paused]
]

/** Whether both sides have a seat that is gone. @param {Ledger} ledger */
export function isEmpty(ledger) {
  return [0, 1].every((side) => ledger.seats.some((_, seat) => seat % 2 === side && isGone(ledger, seat)))
}

/** @param {Ledger} ledger */
function isBeyondVoids(ledger) {
  return ledger.voids > ledger.opts.voids
}

// Where the terms say that the match waits (opts 4 = 2), nobody is forfeited before the voids are used up.
/** @param {Ledger} ledger */
const mayForfeit = (ledger) => ledger.opts.gone !== 2 || isBeyondVoids(ledger)

/** @param {Ledger} ledger @param {number} seat */
function isForfeitForSilence(ledger, seat) {
  const due = ledger.lastVoid
  if (due === null || due.isAtDraw || !due.missing.has(seat)) return false
  const isOneSided = [...due.missing].every((other) => other % 2 === seat % 2)
  return isOneSided && mayForfeit(ledger)
}

/** @param {Ledger} ledger @param {number} seat */
function isForfeitForAbsence(ledger, seat) {
  const isExhausted = ledger.phase === 'between' && Boolean(ledger.seats[seat].chain?.isExhausted(ledger.index))
  return (isAbsent(ledger, seat) || isExhausted) && mayForfeit(ledger)
}

// C29, C22, C2, C22, C19, C25, C22. Where decisions have no end (opts 0) nothing is ruled. Before a call all is known; in a
// hand the rules know whose decision it is, and what.
/** @param {Ledger} ledger @param {any} fields */
function ruleMove(ledger, fields) {
  ledger.must(!ledger.paused, 'C29')
  ledger.must(ledger.opts.decision_ms !== 0, 'C22')
  const { decider } = ledger
  const isBefore = ledger.phase === 'between'
  const reading = isBefore ? null : ledger.hand?.reading ?? null
  ledger.must(isBefore ? decider !== null : reading !== null && !reading.awaitsDeal && !reading.isOver, 'C22')
  const args = argsOf(ledger, fields)
  if (isBefore && decider !== null) {
    const { seat, kinds } = decider
    ledger.must(fields.seat === seat && kinds.includes(fields.kind) && BEFORE_CALL.includes(fields.kind), 'C22')
    ledger.must(fields.kind === 'cut' ? args.p === 0 : args.count === 3, 'C22')
  } else {
    ledger.must(reading !== null && reading.mayRule(fields.seat, fields.kind, args), 'C22')
  }
  openArgs(ledger, fields.seat, fields.kind, args)
  ledger.must(!reading || reading.rule(fields.seat, fields.kind, args), 'C22')
  ledger.seats[fields.seat].ruled += 1
  decide(ledger, fields.seat, fields.kind, args)
}

export const RULINGS = { rule }
