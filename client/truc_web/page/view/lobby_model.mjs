// What the lobby shows of the tables that are listed, as plain values: where one may sit, where somebody waits, in which
// order they stand.

import { familyOf } from '../games.mjs'
import { isSealed } from './sealed.mjs'

const GUESTS = 5          // places in the terms, `opts` of docs/protocol/options.md
const SPECTATORS = 8
const SEATS_CHANGE = ['open', 'over']

/** @typedef {import('../games.mjs').Family} Family */
/** @typedef {import('../games.mjs').Way} Way */
/** @typedef {{ tag: string, isKeyed: boolean }} Me */

/** The seats of a table as the server shows it. @param {any} table @returns {any[]} */
const taken = ({ seats }) => seats.filter((/** @type {any} */ { kind }) => kind !== 'empty')

/** Whether one sits there. @param {any} table @param {Me} me */
export const isOwn = (table, { tag }) => table.seats.some((/** @type {any} */ { player }) => player === tag)

/** Whether one may sit down. @param {any} table @param {Me} me */
export function isFree(table, me) {
  const { state, n, opts = [] } = table
  const guests = taken(table).filter(({ kind }) => kind === 'guest').length
  return SEATS_CHANGE.includes(state) && taken(table).length < n && !isOwn(table, me) && (me.isKeyed || (!isSealed(table) && guests < (opts[GUESTS] ?? 0)))
}

/** Where somebody waits for others: those who are there. @param {any} table */
const waiting = (table) => taken(table).filter(({ online }) => online !== false).length

/** A press on a family: a seat beside those who wait, but where the players deal, which one has to have chosen; else a table of the usual way. */
/** @typedef {{ waiting: number, table: string | null, way: Way }} Quick */

/**
 * @param {Family} family
 * @param {any[]} tables that are listed
 * @param {Me} me
 * @param {Way} usual
 * @returns {Quick}
 */
export function quickOf(family, tables, me, usual) {
  const open = tables.filter((table) => familyOf(table.variant) === family.name && !isSealed(table) && isFree(table, me) && waiting(table) > 0)
  const isUsual = (/** @type {any} */ { variant, n }) => variant === usual.variant && n === usual.seats ? 0 : 1
  open.sort((a, b) => isUsual(a) - isUsual(b) || missing(a) - missing(b) || (b.age_ms ?? 0) - (a.age_ms ?? 0))
  const [first] = open
  const way = first === undefined ? usual : { variant: first.variant, seats: first.n }
  return { waiting: open.reduce((sum, table) => sum + waiting(table), 0), table: first?.table ?? null, way }
}

/** @param {any} table */
const missing = (table) => table.n - taken(table).length

/** What may be done at a table: sit down, go back, look on, nothing. @typedef {'sit' | 'back' | 'watch' | null} Deed */

/**
 * The tables in the order they are shown: where one may sit, of one's own kind and nearly full first, then those to watch.
 *
 * @param {any[]} tables
 * @param {Me} me
 * @param {string | null} last the family played last
 * @returns {{ table: any, deed: Deed, taken: number }[]}
 */
export function rowsOf(tables, me, last) {
  const rows = tables.map((table) => ({ table, deed: deedAt(table, me), taken: taken(table).length }))
  const place = (/** @type {Deed} */ deed) => ['back', 'sit', 'watch', null].indexOf(deed)
  const kind = (/** @type {any} */ { variant }) => familyOf(variant) === last ? 0 : 1
  return rows.sort((a, b) => place(a.deed) - place(b.deed) || kind(a.table) - kind(b.table) || missing(a.table) - missing(b.table) || (a.table.table < b.table.table ? -1 : 1))
}

/** @param {any} table @param {Me} me @returns {Deed} */
function deedAt(table, me) {
  if (isOwn(table, me)) return 'back'
  if (isFree(table, me)) return 'sit'
  return (table.opts?.[SPECTATORS] ?? 0) > 0 ? 'watch' : null
}

/**
 * The newest matches that are over, from one's own seat.
 *
 * @param {any[]} kept as the vault has them, newest first
 * @param {number} most
 */
export const overOf = (kept, most) => kept.filter(({ isOver, seat }) => isOver && seat !== null).slice(0, most)

/** How a match that is kept has ended, from one's own seat. @param {any} kept @returns {'won' | 'lost' | 'none'} */
export const endOf = ({ winner, seat }) => winner === null || seat === null ? 'none' : winner === seat % 2 ? 'won' : 'lost'

/** Why a match that is kept was stopped. @param {{ failed: string }} kept @param {import('../words.mjs').Speech} speech */
export const whyFailed = ({ failed }, speech) => speech.catalogue.wrong[failed] ?? speech.say('proof.unsound')

/** The others at a table that is kept. @param {{ names: string[], seat: number | null }} kept */
export const othersOf = ({ names, seat }) => names.filter((_, each) => each !== seat)

/**
 * One's matches, newest first: what is kept here, and what the server says it still has of the others.
 *
 * @param {any[]} kept
 * @param {any[]} played as docs/protocol has `PlayedMatch`
 */
export function matchesOf(kept, played) {
  const here = new Map(kept.map((each) => [each.match, each]))
  const there = new Map(played.map((each) => [each.match, each]))
  const rows = [...new Set([...here.keys(), ...there.keys()])].map((match) => {
    const [own, told] = [here.get(match) ?? null, there.get(match) ?? null]
    const { variant = '', names = [], seat } = own ?? told
    const isEnded = told?.reason !== undefined
    const when = own?.ended ?? told.ended_ms ?? told.since_ms
    return { match, variant, names, seat, when, kept: own, isOver: own?.isOver || isEnded, isFetchable: isEnded && !own?.isOver && (own?.failed ?? null) === null }
  })
  return rows.sort((a, b) => b.when - a.when)
}
