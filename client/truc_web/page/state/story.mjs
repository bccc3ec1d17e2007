// A match that is shown again: its records as a list, and the table as it stood after any of them. Everybody's cards are
// open, as far as the match has opened them.

import { freshTable, toldTable } from './table.mjs'

/** @typedef {import('./table.mjs').Table} Table */

/**
 * @typedef {object} Story
 * @property {string} match
 * @property {import('../session/plain.mjs').Rules} rules
 * @property {string[]} names by seat
 * @property {number | null} seat from which it is seen
 * @property {any[][]} means of each record
 * @property {Map<number, string[][]>} cards of each hand by its index, by seat
 */

/**
 * @param {{ match: string, rules: import('../session/plain.mjs').Rules, names: string[], seat: number | null, means: any[][] }} given
 * @returns {Story}
 */
export const storyOf = (given) => ({ ...given, cards: cardsOf(given.means) })

/** The cards of each hand, from the record that opens them. @param {any[][]} means */
function cardsOf(means) {
  /** @type {Map<number, string[][]>} */
  const found = new Map()
  let index = 0
  for (const fact of means.flat()) {
    if (fact.what === 'called') index = fact.index
    if (fact.what === 'hands_opened') found.set(index, fact.cards)
  }
  return found
}

/** The table after so many records. @param {Story} story @param {number} count @returns {Table} */
export function tableAfter({ match, rules, names, seat, means, cards }, count) {
  const seats = names.map((name, each) => ({ seat: each, kind: 'key', name, online: true, ready: true }))
  let table = toldTable(freshTable('', seat), { t: 'table', variant: rules.variant, seats, n: names.length, state: 'playing', opts: [] }, 0)
  table = toldTable(table, { t: 'setup', match, rules }, 0)
  for (let k = 0; k < count; k++) {
    table = toldTable(table, { t: 'record', match, k, means: means[k] }, 0)
    const dealt = means[k].some(({ what }) => what === 'dealt') ? cards.get(table.hand.j) : undefined
    if (dealt !== undefined) table = withCards(table, dealt)
  }
  return table
}

/** @param {Table} table @param {string[][]} dealt @returns {Table} */
function withCards(table, dealt) {
  const opened = Object.fromEntries(dealt.map((cards, seat) => [seat, cards]))
  const own = table.seat === null ? [] : dealt[table.seat]
  return { ...table, hand: { ...table.hand, opened, own } }
}

/** Where a step goes to: the next record that shows something, `way` 1 or -1. @param {Story} story @param {number} count @param {number} way */
export function stepFrom({ means }, count, way) {
  let at = count + way
  while (at > 0 && at < means.length && means[at - 1].every(({ what }) => UNSEEN.includes(what))) at += way
  return Math.max(0, Math.min(means.length, at))
}

/** Where the next hand begins, or the one before. @param {Story} story @param {number} count @param {number} way */
export function handFrom({ means }, count, way) {
  const begins = means.flatMap((facts, k) => facts.some(({ what }) => what === 'dealt') ? [k + 1] : [])
  const found = way > 0 ? begins.find((at) => at > count) : begins.findLast((at) => at < count)
  return found ?? (way > 0 ? means.length : 0)
}

const UNSEEN = ['state', 'called', 'released', 'hands_committed', 'acked', 'rekeyed']
