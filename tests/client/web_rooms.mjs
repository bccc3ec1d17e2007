// The pure parts of the screens around the table.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'

import { familiesOf, familyOf, lookOf, wayOf } from '../../client/truc_web/page/games.mjs'
import { chosen, clockOf, presetOf, presetsOf, withClock } from '../../client/truc_web/page/options.mjs'
import { correctionOf, qrCode } from '../../client/truc_web/page/qr.mjs'
import { sealedTerms } from '../../client/truc_web/page/view/sealed.mjs'
import { endOf, matchesOf, othersOf, overOf, quickOf, rowsOf } from '../../client/truc_web/page/view/lobby_model.mjs'

const ME = { tag: 'me', isKeyed: true }
const GUEST = { tag: 'me', isKeyed: false }
const OFFERS = [
  { name: 'truc-catalan', seats: [2, 4] }, { name: 'truc-french', seats: [2] }, { name: 'truc-partnership', seats: [4] },
  { name: 'truco-argentino', seats: [2, 4, 6] }, { name: 'truco-argentino-6-flor', seats: [6] }, { name: 'house', seats: [2] }
]

/** A table: `seats` a letter each, `k` a key, `g` a guest, `a` a key that is away, `m` oneself, `-` nobody. */
const table = (code, variant, seats, { state = 'open', watchers = 1, guests = 0, mode = undefined } = {}) => ({
  table: code, variant, state, ...(mode && { mode }), n: seats.length, opts: [30000, 120000, 60000, 1, 0, guests, 3, 600000, watchers, 3], options: {},
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
  assert.deepEqual(quick([table('T', 'truco-argentino', 'k-', { mode: 'blind' })]), none)
})

test('where the players deal nobody sits without a key', () => {
  const deed = (me) => rowsOf([table('T', 'put', 'k-', { guests: 2, mode: 'blind' })], me, null)[0].deed
  assert.deepEqual([ME, GUEST].map(deed), ['sit', 'watch'])
})

test('who cannot deal is told why, before the login too', () => {
  const speech = { say: (key, { why } = {}) => [key, why].filter(Boolean).join(' ') }
  const server = { caps: { blind: true } }
  const why = (state) => sealedTerms({ speech, state: { me: null, vault: null, server: null, ...state } }, { mode: 'blind' }).why
  assert.equal(why({}), null)
  assert.equal(why({ vault: { name: null, why: 'old_browser' } }), 'sealed.cannot errors.old_browser')
  assert.equal(why({ me: { isKeyed: false, why: 'not_secure' }, server }), 'sealed.cannot errors.not_secure')
  assert.equal(why({ me: { isKeyed: true, why: null }, server }), null)
  assert.equal(why({ me: { isKeyed: true, why: null }, server: { caps: {} } }), 'sealed.cannot sealed.off')
  assert.equal(sealedTerms({ speech }, { variant: 'put' }), null)
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

test('a text becomes the code that other programs draw for it', () => {
  // the symbol of python-qrcode, with the mask of the fewest penalties
  const rows = ['111111100110101111111', '100000100000101000001', '101110101001001011101', '101110101111101011101', '101110101111101011101', '100000101010101000001', '111111101010101111111', '000000001001100000000', '101111100110101111100', '000101000110100100111', '010110111011010010010', '001001001010000111100', '111111111001010011010', '000000001001111001111', '111111100110101101110', '100000101001111001100', '101110101110100100010', '101110101100100100100', '101110101101010011000', '100000100000000110100', '111111101111010010110']
  assert.deepEqual(qrCode('truc').map((row) => row.join('')), rows)
  const key = qrCode(`truc player key 1\n${'0123456789abcdef'.repeat(4)}\n`)
  assert.equal(createHash('sha256').update(key.map((row) => row.join('')).join('\n')).digest('hex'), '07cb9cb7abc845034609a486655a14a10d204770fce12ae876c9c4893a9d31d9')
  assert.equal(qrCode('a'.repeat(106)).length, 41)
  assert.equal(qrCode('a'.repeat(107)), null)
})

test('a correction is that of the standard\'s example', () => {
  const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
  assert.deepEqual(correctionOf(data, 10), [196, 35, 39, 119, 235, 215, 231, 226, 93, 23])
})

test('an option as usual is not sent', () => {
  const target = { name: 'target', values: [6, 12], usual: 12, isMore: false }
  assert.deepEqual(chosen({ guests: 2 }, target, 6), { guests: 2, target: 6 })
  assert.deepEqual(chosen({ guests: 2, target: 6 }, target, 12), { guests: 2 })
  assert.deepEqual(chosen({ target: 6 }, target, null), {})
  assert.equal(clockOf(withClock({}, 'day')), 'day')
  assert.equal(clockOf(withClock(withClock({ target: 6 }, 'day'), '')), '')
  for (const [name, { options, isPrivate }] of Object.entries(presetsOf(null))) assert.equal(presetOf(null, options, isPrivate), name)
  assert.equal(presetOf(null, { target: 6 }, false), '')
})

test('one\'s matches are those kept here and those the server still has, each once', () => {
  const kept = [{ match: 'a', variant: 'put', names: ['x', 'y'], seat: 0, ended: 30, isOver: true, failed: null }, { match: 'b', variant: 'put', names: [], seat: 0, ended: 20, isOver: false, failed: null }]
  const played = [{ match: 'c', seat: 1, since_ms: 40 }, { match: 'a', seat: 0, since_ms: 1, reason: 'target', ended_ms: 30 }, { match: 'b', seat: 0, since_ms: 1, reason: 'target', ended_ms: 21 }, { match: 'd', variant: 'trut', seat: 0, since_ms: 5, reason: 'resigned', ended_ms: 10 }]
  assert.deepEqual(matchesOf(kept, played).map(({ match, when, isOver, isFetchable, kept: own }) => [match, when, isOver, isFetchable, own !== null]), [
    ['c', 40, false, false, false], ['a', 30, true, false, true], ['b', 20, true, true, true], ['d', 10, true, true, false]
  ])
})
