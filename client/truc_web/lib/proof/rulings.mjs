// Section 9: the rulings of the server (C22).

import { isAbsent, isGone } from './calls.mjs'
import { argsOf, decide, openArgs } from './hands.mjs'

/** @typedef {import('./ledger.mjs').Ledger} Ledger */

const BEFORE_CALL = ['cut', 'deal']     // the kinds of a ruled move there

/** @param {Ledger} m @param {any} f */
function rule(m, f) {
  m.tell('ruling', [f.ruling, f.kind, f.seat === null ? null : `for seat ${f.seat}`].filter(Boolean).join(' '))
  if (f.ruling === 'move' && f.seat !== null && f.kind !== null) return ruleMove(m, f)
  const row = m.mode.rulings.find(([ruling, kind]) => ruling === f.ruling && kind === f.kind)
  const isRow = row !== undefined && (f.seat !== null) === (f.ruling === 'forfeit') && f.args.length === 0
  m.must(isRow && row[2](m, f.seat), 'C22')
  if (f.ruling === 'forfeit') return m.giveUp(f.seat, 'forfeit')
  if (f.ruling === 'abandon') return m.finish(null, 'abandoned')
  m.paused = f.ruling === 'pause'
  m.asking.clear()
}

/** A row of section 9, but for moves. @typedef {[ruling: string, kind: string | null, isValid: (m: Ledger, seat: number) => boolean]} Row */

/** @type {Row[]} */
export const ROWS = [
  ['forfeit', 'silent', isForfeitForSilence],
  ['forfeit', 'absent', isForfeitForAbsence],
  ['abandon', 'empty', isEmpty],
  ['abandon', 'voids', isBeyondVoids],
  ['abandon', 'server', () => true],
  ['pause', null, (m) => !m.paused && m.asking.size === m.seats.length],
  ['resume', null, (m) => m.paused]
]

/** Whether both sides have a seat that is gone. @param {Ledger} m */
export function isEmpty(m) {
  return [0, 1].every((side) => m.seats.some((_, seat) => seat % 2 === side && isGone(m, seat)))
}

/** @param {Ledger} m */
function isBeyondVoids(m) {
  return m.voids > m.opts.voids
}

// Where the terms say that the match waits (opts 4 = 2), nobody is forfeited before the voids are used up.
/** @param {Ledger} m */
const mayForfeit = (m) => m.opts.gone !== 2 || isBeyondVoids(m)

/** @param {Ledger} m @param {number} seat */
function isForfeitForSilence(m, seat) {
  const due = m.lastVoid
  if (due === null || due.isAtDraw || !due.missing.has(seat)) return false
  const isOneSided = [...due.missing].every((other) => other % 2 === seat % 2)
  return isOneSided && mayForfeit(m)
}

/** @param {Ledger} m @param {number} seat */
function isForfeitForAbsence(m, seat) {
  const isExhausted = m.phase === 'between' && Boolean(m.seats[seat].chain?.isExhausted(m.index))
  return (isAbsent(m, seat) || isExhausted) && mayForfeit(m)
}

// C29, C22, C2, C22, C19, C25, C22. Where decisions have no end (opts 0) nothing is ruled. Before a call all is known; in a
// hand the rules know whose decision it is, and what.
/** @param {Ledger} m @param {any} f */
function ruleMove(m, f) {
  m.must(!m.paused, 'C29')
  m.must(m.opts.decision_ms !== 0, 'C22')
  const { decider } = m
  const isBefore = m.phase === 'between'
  const reading = isBefore ? null : m.hand?.reading ?? null
  m.must(isBefore ? decider !== null : reading !== null && !reading.awaitsDeal && !reading.isOver, 'C22')
  const args = argsOf(m, f)
  if (isBefore && decider !== null) {
    const { seat, kinds } = decider
    m.must(f.seat === seat && kinds.includes(f.kind) && BEFORE_CALL.includes(f.kind), 'C22')
    m.must(f.kind === 'cut' ? args.p === 0 : args.count === 3, 'C22')
  } else {
    m.must(reading !== null && reading.mayRule(f.seat, f.kind, args), 'C22')
  }
  openArgs(m, f.seat, f.kind, args)
  m.must(!reading || reading.rule(f.seat, f.kind, args), 'C22')
  m.seats[f.seat].ruled += 1
  decide(m, f.seat, f.kind, args)
}

export const RULINGS = { rule }
