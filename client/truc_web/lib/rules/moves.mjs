// Moves as people write them (docs/rules/scenarios.md): `play 7e raise 2`, `points 28`, `accept`.

import { actionOf } from './state.mjs'

/** @typedef {import('./document.mjs').Rules} Rules */
/** @typedef {import('./state.mjs').Action} Action */

const OF_CARDS = ['play', 'cover', 'show']

/** The line of an action. @param {Rules} rules @param {Action} action */
export function moveLine({ pack }, { kind, cards, value }) {
  if (kind === 'cover' && cards.length === 0) return kind
  const words = [kind, ...cards.map((card) => pack[card])]
  if (value === null) return words.join(' ')
  return [...words, ...kind === 'play' ? ['raise'] : [], value].join(' ')
}

/**
 * The action of a line; null if it is none.
 *
 * @param {Rules} rules
 * @param {number} seat
 * @param {string} line
 * @returns {Action | null}
 */
export function readMove({ pack }, seat, line) {
  const [kind, ...rest] = line.split(' ')
  if (!OF_CARDS.includes(kind)) return rest.length > 1 ? null : actionOf(seat, kind, [], valueOf(kind, rest[0]))
  const names = kind === 'play' && rest[1] === 'raise' && rest.length === 3 ? rest.slice(0, 1) : rest
  const cards = names.map((name) => pack.indexOf(name))
  if (cards.length === 0 || cards.includes(-1)) return null
  return actionOf(seat, kind, cards, names === rest ? null : valueOf(kind, rest[2]))
}

// An order names a rank, also where the rank is a number.
/** @param {string} kind @param {string | undefined} word */
function valueOf(kind, word) {
  if (word === undefined) return null
  return kind !== 'order' && /^\d+$/.test(word) ? Number(word) : word
}
