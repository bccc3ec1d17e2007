// The pure parts of the screens around the table.

import assert from 'node:assert/strict'
import test from 'node:test'

import { familiesOf, familyOf, lookOf, wayOf } from '../../client/truc_web/page/games.mjs'
import { endOf, othersOf, overOf, quickOf, rowsOf } from '../../client/truc_web/page/view/lobby_model.mjs'

const ME = { tag: 'me', isKeyed: true }
const GUEST = { tag: 'me', isKeyed: false }
const OFFERS = [
  { name: 'truc-catalan', seats: [2, 4] }, { name: 'truc-french', seats: [2] }, { name: 'truc-partnership', seats: [4] },
  { name: 'truco-argentino', seats: [2, 4, 6] }, { name: 'truco-argentino-6-flor', seats: [6] }, { name: 'house', seats: [2] }
]

/** A table: `seats` a letter each, `k` a key, `g` a guest, `a` a key that is away, `m` oneself, `-` nobody. */
const table = (code, variant, seats, { state = 'open', watchers = 1, guests = 0 } = {}) => ({
  table: code, variant, state, n: seats.length, opts: [30000, 120000, 60000, 1, 0, guests, 3, 600000, watchers, 3], options: {},
  seats: [...seats].map((kind, seat) => kind === '-' ? { seat, kind: 'empty' } : { seat, kind: kind === 'g' ? 'guest' : 'key', name: kind, player: kind === 'm' ? 'me' : kind, online: kind !== 'a' })
})

test('games are offered by family, the last one and those of the own tongue first', () => {
  const names = (tongue, last) => familiesOf(OFFERS, { tongue, last }).map(({ name }) => name)
  assert.deepEqual(names('en', null), ['truco-argentino', 'truc-catalan', 'truc-french', 'house'])
  assert.deepEqual(names('ca', null), ['truc-catalan', 'truco-argentino', 'truc-french', 'house'])
  assert.deepEqual(names('ca', 'truc-french'), ['truc-french', 'truc-catalan', 'truco-argentino', 'house'])
  const french = familiesOf(OFFERS, { tongue: 'fr', last: null })[0]
  assert.deepEqual(french.forms.map(({ name }) => name), ['truc-french', 'truc-partnership'])
  assert.equal(familyOf('trut-confrerie'), 'trut')
  assert.equal(lookOf('house').cards.length, 2)
})

test('a family is played as the last time, as far as that is offered', () => {
  const [family] = familiesOf(OFFERS, { tongue: 'es', last: null })
  assert.deepEqual(wayOf(family, null), { variant: 'truco-argentino', seats: 2 })
  assert.deepEqual(wayOf(family, { variant: 'truco-argentino', seats: 6 }), { variant: 'truco-argentino', seats: 6 })
  assert.deepEqual(wayOf(family, { variant: 'truco-argentino-6-flor', seats: 2 }), { variant: 'truco-argentino', seats: 2 })
})

test('a quick game is the nearest table where somebody waits, else one of the usual way', () => {
  const [family] = familiesOf(OFFERS, { tongue: 'es', last: null })
  const usual = { variant: 'truco-argentino', seats: 2 }
  const quick = (tables, me = ME) => quickOf(family, tables, me, usual)
  const none = { waiting: 0, table: null, way: usual }
  assert.deepEqual(quick([]), none)
  assert.deepEqual(quick([table('A', 'truc-catalan', 'k-'), table('B', 'truco-argentino', 'kk'), table('C', 'truco-argentino', 'a-')]), none)
  assert.deepEqual(quick([table('A', 'truco-argentino', 'm-'), table('B', 'truco-argentino', 'k-', { state: 'playing' })]), none)
  const six = table('S', 'truco-argentino-6-flor', 'kkkkk-')
  const two = table('T', 'truco-argentino', 'k-')
  assert.deepEqual(quick([six, two]), { waiting: 6, table: 'T', way: usual })
  assert.deepEqual(quick([six]), { waiting: 5, table: 'S', way: { variant: 'truco-argentino-6-flor', seats: 6 } })
  assert.deepEqual(quick([two], GUEST), none)
  assert.equal(quick([table('G', 'truco-argentino', 'kg--', { guests: 2 })], GUEST).table, 'G')
  assert.equal(quick([table('G', 'truco-argentino', 'kgg-', { guests: 2 })], GUEST).table, null)
})

test('tables stand in the order of what one can do there', () => {
  const tables = [
    table('Q', 'truc-catalan', 'kk', { state: 'playing', watchers: 0 }), table('P', 'truc-catalan', 'kk', { state: 'playing' }), table('B', 'put', 'k---'),
    table('A', 'put', 'kkk-'), table('C', 'truc-catalan', 'k---'), table('M', 'put', 'm-')
  ]
  assert.deepEqual(rowsOf(tables, ME, 'truc-catalan').map(({ table: { table: code }, deed }) => `${code} ${deed}`), ['M back', 'C sit', 'A sit', 'B sit', 'P watch', 'Q null'])
})

test('one\'s own matches are those that one has played to their end', () => {
  const kept = [{ isOver: false, seat: 0 }, { isOver: true, seat: null }, { isOver: true, seat: 1, winner: 1, names: ['a', 'b'] }, { isOver: true, seat: 1, winner: 0, names: ['a', 'b'] }]
  assert.deepEqual(overOf(kept, 9).map(endOf), ['won', 'lost'])
  assert.equal(overOf(kept, 1).length, 1)
  assert.deepEqual(othersOf(kept[2]), ['a'])
  assert.equal(endOf({ winner: null, seat: 1 }), 'none')
})
