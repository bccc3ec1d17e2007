// What a seat may do, found out by itself (docs/protocol/play.md, "Own options"): by the rules, its own cards, and what
// everybody is told the match waits for. What is found is allowed whatever the closed cards of others are.

import { randomBytes } from './platform.mjs'

/** @typedef {import('./seat.mjs').Option} Option */
/** @typedef {import('./proof/ledger.mjs').Ledger} Ledger */
/** @typedef {import('./rules/state.mjs').Action} Action */
/** @typedef {[card: number, proof: any]} Held an own card with what opens its place: a salt, or in mode blind keys */

/**
 * @param {Ledger} ledger
 * @param {import('./rules/state.mjs').State | null} state of the open hand, with the seat's own cards
 * @param {number} seat
 * @param {Held[]} held its own cards of the newest deal, by slot
 * @param {number[]} awaited the seats that `waiting` names
 * @returns {Option[]}
 */
export function ownOptions(ledger, state, seat, held, awaited) {
  if (ledger.paused) return []
  if (ledger.phase === 'between') return beforeCall(ledger, seat)
  const { hand, engine } = ledger
  if (ledger.phase !== 'hand' || hand === null || state === null || hand.blindCard !== null || hand.lastOpened !== null) return []
  if (hand.shares.length > 0 && engine.owedShares(hand.reading.state).length > 0) return []     // they come first
  const { here, actions } = engine.surelyLegal(state, seat, awaited)
  /** @type {[string, number][]} */
  const also = engine.isAwaitedUnseen(here, seat, awaited) ? [['waits', 1]] : []
  return actions.map((action) => {
    const { line, hints } = engine.described(here, action)
    return [action.kind, argsOf(action, held), line, [...hints, ...also]]
  })
}

// Before a call nothing hangs on cards.
/** @param {Ledger} ledger @param {number} seat @returns {Option[]} */
function beforeCall({ decider, rules }, seat) {
  if (decider === null || decider.seat !== seat) return []
  return decider.kinds.flatMap((kind) => {
    if (kind === 'cut') return [/** @type {Option} */ ([kind, [somewhere(rules.deck)], kind, []])]
    if (kind === 'tap') return [/** @type {Option} */ ([kind, [], kind, []])]
    return [3, 1].map((count) => /** @type {Option} */ ([kind, [count], `${kind} ${count}`, [['cards', count]]]))
  })
}

/** A place to cut at, for a seat that does not choose its own. @param {number} deck */
export function somewhere(deck) {
  // two bytes for at most 127 places: none is likelier than another by more than one in 516
  const [byte, other] = randomBytes(2)
  return 1 + (256 * byte + other) % (deck - 1)
}

/** The args of an act that says this action. @param {Action} action @param {Held[]} held @returns {unknown[]} */
function argsOf({ kind, cards, value }, held) {
  if (cards.length === 0) return value === null ? [] : [value]
  const openings = held.flatMap(([card, proof], slot) => cards.includes(card) ? [[slot, card, proof]] : [])
  if (kind === 'show') return [openings]
  const [[slot, card, proof]] = openings
  return kind === 'cover' ? [slot] : [slot, card, proof, value]
}
