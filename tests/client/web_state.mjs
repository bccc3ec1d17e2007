// What the page makes of what it is told (state/, effects.mjs) and what it shows of it (view/): no browser, no clock, no
// chance but a seed. In one line of JSON comes what only Python knows: the words, and hands of every game at random.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'

import { Goodbye, Seat, fromHex } from '../../client/truc_web/lib/index.mjs'
import { effects } from '../../client/truc_web/page/effects.mjs'
import { keyPressed } from '../../client/truc_web/page/keys.mjs'
import { load, screenOf } from '../../client/truc_web/page/route.mjs'
import { rulesOf } from '../../client/truc_web/page/session/plain.mjs'
import { Session } from '../../client/truc_web/page/session/session.mjs'
import { NotKept, Vault } from '../../client/truc_web/page/session/vault.mjs'
import { readSettings } from '../../client/truc_web/page/settings.mjs'
import { ARMED, slotOf } from '../../client/truc_web/page/state/slots.mjs'
import { FIRST, reduce } from '../../client/truc_web/page/state/state.mjs'
import { handFrom, stepFrom, storyOf, tableAfter } from '../../client/truc_web/page/state/story.mjs'
import { Ui } from '../../client/truc_web/page/ui.mjs'
import { handEnd } from '../../client/truc_web/page/view/end.mjs'
import { answeringOf, bubblesOf, buttonsOf, heldBy, ownCards } from '../../client/truc_web/page/view/model.mjs'
import { Speech, capital } from '../../client/truc_web/page/words.mjs'
import { anchorsNamed, refusedBefore, stoppedBefore, visits } from './web_traces.mjs'

const { catalogues, own, hands } = JSON.parse(readFileSync(0, 'utf8'))
const LANGUAGES = Object.keys(catalogues)
const SPEECHES = Object.fromEntries(LANGUAGES.map((lang) => [lang, new Speech(catalogues[lang], own.sets)]))
const SETTINGS = { isLoud: true, isFour: false, isTaught: true, seen: [] }
const IS_LONG = process.env.TRUC_EXAMPLES !== undefined
const TIMES = IS_LONG ? 6 : 2     // of each visit, in another order
const NAMES = ['Ana', 'Ben', 'Cleo', 'Dora', 'Eva', 'Fran']
const SHEETS = ['proof', 'signs', 'menu', 'keys']

Object.defineProperty(performance, 'now', { value: () => 0 })

/** The same chances every time. @param {number} seed */
function chanceOf(seed) {
  let state = seed
  const random = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >> 8) % n
  }
  return { random, pick: (list) => list[random(list.length)] }
}

/** @template T @param {T} value @returns {T} */
function frozen(value) {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}

/** The state after an event, neither of which may be changed; what follows from it is asked for too. */
function after(state, event) {
  const next = frozen(reduce(state, frozen({ ...event, now: 0 })))
  effects(state, next)
  return next
}
const folded = (events, first = FIRST) => events.reduce(after, frozen(first))
const at = (table) => frozen({ ...FIRST, path: `/t/${table}`, screen: { watch: true } })

/** What stands on the screen of a state; whatever cannot be shown throws. */
const screenAt = (state, lang, screen) => screenOf(uiAt(state, lang, screen))

/** What shows a state. */
function uiAt(state, lang, screen = {}) {
  return Object.assign(Object.create(Ui.prototype), {
    state: { ...state, screen: { ...state.screen, ...screen } }, speech: SPEECHES[lang], settings: SETTINGS, own, asked: new Map(), wishes: 0, waiting: new Map(), isUp: false, early: [],
    gameName: (variant) => own.games[variant] ?? variant
  })
}
/** What every element is given. */
const propsIn = ({ props, children = [] }) => [...props ? [props] : [], ...children.flatMap(propsIn)]
const shown = (state, lang) => JSON.stringify(screenAt(state, lang))

/** Every text and attribute that is shown. */
function textsOf({ text, props = {}, children = [] }, found = []) {
  for (const each of text === undefined ? Object.values(props) : [text]) if (typeof each === 'string') found.push(each)
  for (const child of children) textsOf(child, found)
  return found
}

/** Every text is one of the catalogue, and filled in. */
function checkWords(state, lang, screen) {
  const wrong = textsOf(screenAt(state, lang, screen)).filter((text) => /\{\w+\}|undefined|\bNaN\b|\[object|^(?:page|proof|said|screen|keys|slots|closed|cards)\.\w+$/.test(text))
  assert.deepEqual(wrong, [], lang)
}

/** A table without what it happened to hear in which order. */
const settled = (state) => Object.fromEntries(Object.entries(state.tables).map(([code, table]) => [code, { ...table, log: linesOf(table) }]))
const linesOf = ({ log }) => log.filter(({ fact }) => fact !== undefined)

const VISITS = await visits()
await load('t')     // elsewhere a screen is loaded when it is first shown, behind the way to a seat
const each = (run) => VISITS.forEach((visit, number) => {
  try {
    run(visit, chanceOf(number + 1))
  } catch (error) {
    error.message = `${visit.trace}, ${visit.name}: ${error.message}`
    throw error
  }
})
const isTold = (event, ...kinds) => event.what === 'told' && kinds.includes(event.message.t)
const told = (message) => ({ what: 'told', message })

test('no check of a trace fails, and whatever is shown on the way is said in every language', () => {
  each(({ table, events }) => {
    let state = at(table)
    events.forEach((event, number) => {
      assert.notEqual(event.what, 'failed')
      state = after(state, event)
      if (event.what === 'told' && (IS_LONG || number % 4 === 0)) checkWords(state, LANGUAGES[number % LANGUAGES.length], { sheet: SHEETS[number % 7], chooser: number % 3 === 0 ? 'raise' : undefined })
    })
    for (const lang of LANGUAGES) checkWords(state, lang)
  })
})

test('slots and cards never move', () => {
  each(({ table, events }) => {
    let state = at(table)
    let [slots, cards, place] = [null, [], new Map()]
    for (const event of events) {
      state = after(state, event)
      const it = state.tables[table]
      if (it === undefined || it.rules === null) continue
      const found = buttonsOf(it, SPEECHES.en, null).map(({ id }) => id)
      slots ??= found
      assert.deepEqual(found, slots)
      if (isTold(event, 'record') && event.message.means.some(({ what }) => what === 'dealt')) [cards, place] = [[], new Map()]
      const held = ownCards(it, null).filter(({ name }) => name !== null)
      assert.deepEqual(held.map(({ name }) => name), cards.length === 0 ? held.map(({ name }) => name) : cards.filter((name) => held.some((card) => card.name === name)))
      for (const card of held) assert.equal(place.get(card.name) ?? card.place, card.place)
      cards = held.map(({ name }) => name)
      held.forEach((card) => place.set(card.name, card.place))
    }
  })
})

test('the file of a match is offered once it is stored with its end', () => {
  let played = 0
  each(({ table, events }) => {
    const state = folded(events, at(table))
    const it = state.tables[table]
    if (it === undefined || it.seat === null || it.ended === null) return
    played++
    const offers = (isOver) => textsOf(screenAt(folded([{ what: 'kept', table, match: it.match, isOver }], state), 'en')).includes(SPEECHES.en.say('page.save_file'))
    assert.deepEqual([offers(false), offers(true)], [false, true])
  })
  assert.notEqual(played, 0)
})

test('the end of a hand that was dismissed is not shown to who comes back to the table, or loads the page again', () => {
  let seen = 0
  each(({ table, events }) => {
    const until = events.findIndex((event) => isTold(event, 'record') && event.message.means.some(({ what }) => what === 'hands_opened'))
    if (until < 0) return
    const ui = uiAt(folded(events.slice(0, until + 1), at(table)), 'en')
    ui.happen = (event) => { ui.state = after(ui.state, event) }
    ui.set = (name, value) => { ui.settings = { ...ui.settings, [name]: value } }
    ui.dialog = 'end'
    const isOpen = () => ui.tableHere.closed !== null && ui.isEndOpen(ui.tableHere)
    if (!isOpen()) return
    seen++
    keyPressed(ui, { key: 'Escape', target: {} })
    assert(!isOpen())
    ui.happen({ what: 'path', path: '/' })
    ui.happen({ what: 'path', path: `/t/${table}` })
    assert(!isOpen())
    ui.state = folded(events.slice(0, until + 1), at(table))
    assert(!isOpen())
  })
  assert.notEqual(seen, 0)
})

test('what one tab sets, another does not take back, and a browser that keeps nothing has it until the page is left', () => {
  const kept = new Map()
  globalThis.document = { documentElement: { dataset: {} } }
  const keeps = (getItem) => { globalThis.localStorage = { getItem, setItem: (name, text) => kept.set(name, text) } }
  keeps((name) => kept.get(name) ?? null)
  const [here, there] = [readSettings(), readSettings()]
  there.with('theme', 'dark')
  assert.deepEqual([here.with('isLarge', true), readSettings()].map(({ theme, isLarge }) => [theme, isLarge]), [['dark', true], ['dark', true]])
  keeps(() => { throw new Error('refused') })
  const { theme, isLarge } = readSettings().with('theme', 'light').with('isLarge', true)
  assert.deepEqual([theme, isLarge], ['light', true])
  delete globalThis.document
  delete globalThis.localStorage
})

test('who is left alone after a match is asked whether to play again, and then to invite friends', () => {
  let seen = 0
  each(({ table, events }) => {
    const state = folded(events, at(table))
    const it = state.tables[table]
    if (it === undefined || it.seat === null || it.ended === null || it.proof.failed !== null) return
    seen++
    const offers = (ready) => {
      const seats = it.shown.seats.map(({ seat }) => seat === it.seat ? { ...it.shown.seats[seat], ready } : { seat, kind: 'empty' })
      const texts = textsOf(screenAt(folded([told({ ...it.shown, state: 'open', seats })], state), 'en'))
      return ['page.again', 'page.invite'].map((path) => texts.includes(SPEECHES.en.say(path)))
    }
    assert.deepEqual([offers(false), offers(true)], [[true, false], [false, true]])
  })
  assert.notEqual(seen, 0)
})

test('what a check has left to show is offered where it has stopped a match, after a reload too, and among the own matches', async () => {
  const offers = (state) => textsOf(screenAt(state, 'en')).includes(SPEECHES.en.say('proof.save_evidence'))
  for (const [kept, isOffered] of [[null, false], [{ failed: null }, false], [{ failed: 'C22' }, true]]) {
    const { match, failed } = await stoppedBefore(kept)
    assert.deepEqual([failed.kind, failed.evidence, failed.check], ['stopped_before', ...isOffered ? [match, 'C22'] : [null, null]])
    const state = folded([{ what: 'seated', table: failed.table, seat: 0 }, failed], at(failed.table))
    assert.equal(offers(state), isOffered)
    assert.equal(textsOf(screenAt(state, 'en')).includes(SPEECHES.en.catalogue.wrong.C22), isOffered)
  }
  await load('history')
  const row = { match: 'ab', variant: 'put', names: ['Ana', 'Ben'], seat: 0, ended: 0, winner: null, isOver: false }
  const isInHistory = (failed) => offers(frozen({ ...FIRST, path: '/history', answers: { kept: [{ ...row, failed }] } }))
  assert.deepEqual([isInHistory(null), isInHistory('C22')], [false, true])
})

test('a refused body that is taken convicts the server once it has signed behind it, and not before', async () => {
  const { acted, told, signers } = await refusedBefore()
  const { check, culprit, k } = told.find(({ what }) => what === 'failed')
  assert.deepEqual([check, culprit, signers[k - 1]], ['C35', 0, 0])
  assert(acted < k - 1 && signers.slice(acted, k - 1).every((signer) => signer !== 0))
})

test('a new chain that was refused is named again, but not once another seat has copied its anchor', async () => {
  const [first, again, then] = await anchorsNamed()
  assert.deepEqual(again, first)
  assert.notDeepEqual(then, first)
})

test('what was there before makes no sound and is told only where it was missed; whose turn it is now is told once', () => {
  let turns = 0
  each(({ table, events }) => {
    const turn = events.findLastIndex((event) => isTold(event, 'options') && event.message.must)
    if (turn < 0) return
    turns++
    const told = events.slice(0, turn).filter((event) => event.what === 'seated' || isTold(event, 'table', 'setup', 'record'))
    const newest = told.findLastIndex((event) => isTold(event, 'record') && event.message.means.some(({ what }) => what !== 'state'))
    const past = (event) => isTold(event, 'setup', 'record') ? { ...event, message: { ...event.message, isPast: true } } : event
    const heard = (state, list) => list.flatMap((event) => {
      const before = state
      state = after(state, event)
      return effects(before, state).map((effect) => effect.do).filter((what) => !['title', 'preload'].includes(what))
    })
    assert.deepEqual(heard(at(table), told.map(past)), [])
    assert.deepEqual([...new Set(heard(folded(told.slice(0, newest), at(table)), told.slice(newest).map(past)))], ['announce'])
    assert.deepEqual(heard(folded(told.map(past), at(table)), [events[turn], events[turn]]), ['turn', 'sound', 'notify'])
  })
  assert.notEqual(turns, 0)
})

test('a page stays where it is when the server moves, says where that is, and shows what is kept here', async () => {
  const events = []
  const session = new Session({ connect: null, server: '', invite: null, vault: null, whyGuest: null, tell: (event) => events.push(event) })
  const paused = session.pauseOrStop(new Goodbye({ code: 'moved', msg: '', retryable: true, to: 'truc.example.net:7373' }))
  session.wake()
  await paused
  await load('settings')
  const moved = folded([{ what: 'vault', name: 'Ana', isNew: false }, ...events, { what: 'line', state: 'opening' }])
  const says = (state, path, text = 'truc.example.net:7373') => textsOf(screenAt({ ...state, path }, 'en')).some((each) => each.includes(text))
  assert.deepEqual(['/', '/t/K7PQ2', '/settings'].map((path) => says(moved, path)), [true, true, true])
  assert(says(moved, '/settings', SPEECHES.en.say('key.about')))
  assert(!says(folded([{ what: 'line', state: 'ready' }], moved), '/settings'))
})

test('what was asked of a server is asked again where the way leads on to it, a few times, and else gets no answer', async () => {
  const told = []
  const moved = new Goodbye({ code: 'moved', msg: '', retryable: true, to: 'truc.example.net:7373' })
  const session = new Session({ connect: null, isFollowed: true, server: '', invite: null, vault: null, whyGuest: null, tell: (event) => told.push(event) })
  const asked = []
  const line = { isOpen: true, nextId: 0, open() {}, end() {}, ask(t, fields) { asked.push([this.nextId++, t, fields]) } }
  session.line = line
  session.ask({ n: 7, t: 'join', fields: { table: 'T' } })
  for (let moves = 0; moves < 3; moves++) {
    session.lose(moved)
    assert.deepEqual(told.filter(({ what }) => what === 'reply'), [])
    await session.enter({ name: 'Ana' })
  }
  assert.deepEqual(asked, [0, 1, 2, 3].map((id) => [id, 'join', { table: 'T' }]))
  session.lose(moved)
  await session.enter({ name: 'Ana' })
  assert.deepEqual([asked.length, told.find(({ what }) => what === 'reply')], [4, { what: 'reply', n: 7, message: { t: 'error', code: 'no_line', msg: 'no_line' } }])
  session.ask({ n: 8, t: 'join', fields: {} })
  session.lose({})
  assert.deepEqual(told.filter(({ what }) => what === 'reply').map(({ n }) => n), [7, 8])
  const paused = session.pauseOrStop(moved)
  session.wake()
  await paused
  assert(!('to' in told.at(-1)))
})

test('a falta that wins the game whichever side has it is told as the game, not as the points that one side lacks', () => {
  const rules = hands.map(({ document }) => rulesOf(fromHex(document))).find(({ variant }) => variant === 'truc-valencia')
  const speech = SPEECHES.ca.of(rules)
  const record = (k, ...means) => told({ t: 'record', table: 'T', match: '00', k, means })
  const accepted = (points) => {
    const score = { what: 'state', phase: 'hand', score: [[0, 0, 3], [0, 0, points]], waiting: [1] }
    const asked = folded([
      { what: 'seated', table: 'T', seat: 1 }, told({ t: 'setup', table: 'T', match: '00', rules }), record(0, { what: 'envido_called', seat: 0, call: 'falta-envido' }, score),
      told({ t: 'options', table: 'T', match: '00', at: 1, must: true, list: [{ kind: 'accept', key: 'accept', hints: { points: 21 } }] })
    ], at('T'))
    const { log } = folded([record(1, { what: 'envido_accepted', seat: 1, points: 21 }, score)], asked).tables.T
    return [buttonsOf(asked.tables.T, speech, null).find(({ id }) => id === 'accept').gloss, speech.tell(log.at(-1).fact, ['Ana', 'Ben'])]
  }
  for (const [points, said] of [[10, 'tota la cama'], [13, '21']]) assert(accepted(points).every((text) => text.includes(said)), accepted(points).join())
})

test('what the game has no word for is called out as the reader writes', () => {
  const rules = hands.map(({ document }) => rulesOf(fromHex(document))).find(({ variant }) => variant === 'truc-french')
  const { tables } = folded([
    { what: 'seated', table: 'T', seat: 1 }, told({ t: 'setup', table: 'T', match: '00', rules }),
    told({ t: 'record', table: 'T', match: '00', k: 0, means: [{ what: 'redeal_proposed', seat: 0 }, { what: 'state', phase: 'redeal', score: [[0, 0, 0], [0, 0, 0]], waiting: [1] }] })
  ], at('T'))
  for (const [lang, called] of [['en', 'Propose new cards!'], ['fr', 'Proposer de nouvelles cartes !']]) {
    assert.deepEqual(bubblesOf(tables.T, SPEECHES[lang].of(rules)).map(({ word }) => word), [called])
  }
})

test('a name is written as its owner writes it, at the beginning of a line too, where all else has a capital', () => {
  const rules = hands.map(({ document }) => rulesOf(fromHex(document))).find(({ variant }) => variant === 'truc-french')
  const names = ['ana', 'ben']
  const facts = [{ what: 'stood', seat: 0 }, { what: 'flor_claim_settled', held: true, target: 1 }, { what: 'rekeyed', role: 2 }, { what: 'rekeyed', role: 0 }, { what: 'turned_up', card: '7h' }, { what: 'hand_drawn' }]
  const state = folded([
    { what: 'seated', table: 'T', seat: 1 }, told({ t: 'setup', table: 'T', match: '00', rules, names }),
    told({ t: 'record', table: 'T', match: '00', k: 0, means: [...facts, { what: 'state', phase: 'between', score: [[0, 0, 0], [0, 0, 0]], waiting: [] }] })
  ], at('T'))
  for (const lang of LANGUAGES) {
    const lines = textsOf(screenAt(state, lang))
    for (const fact of facts) {
      const told = `${SPEECHES[lang].of(rules).tell(fact, names)}.`
      assert(lines.includes(/^(ana|ben) /.test(told) ? told : capital(told)), `${lang}: ${told}`)
    }
  }
})

test('nobody at a table is the partner of who only watches', () => {
  const { document } = hands.find(({ seats }) => seats === 4)
  const people = NAMES.slice(0, 4).map((name, seat) => ({ seat, kind: 'key', name, ready: true, online: true }))
  const begun = [
    told({ t: 'table', table: 'T', variant: 'put', seats: people, n: 4, state: 'playing', opts: [], options: {} }),
    told({ t: 'setup', table: 'T', match: '00', rules: rulesOf(fromHex(document)) }),
    told({ t: 'record', table: 'T', match: '00', k: 0, means: [{ what: 'state', phase: 'hand', score: [[0, 0, 0], [0, 0, 0]], waiting: [1] }] })
  ]
  const partners = (seat) => textsOf(screenAt(folded([{ what: 'seated', table: 'T', seat }, ...begun], at('T')), 'en')).filter((text) => text === SPEECHES.en.say('page.partner'))
  assert.deepEqual([partners(0).length, partners(null).length], [1, 0])
})

test('a link to a table that is full or gone leads on to other tables', () => {
  const full = { variant: 'put', seats: ['Ana', 'Ben'].map((name, seat) => ({ seat, kind: 'key', name })), opts: [], options: {} }
  for (const [found, leads] of [[full, true], [null, true], [{ ...full, seats: [full.seats[0], { seat: 1, kind: 'empty' }] }, false]]) {
    const shown = screenAt({ ...FIRST, path: '/t/CODE', answers: { 'table CODE': found } }, 'en')
    assert.equal(propsIn(shown).some(({ href }) => href === '/'), leads, JSON.stringify(found))
  }
})

test('a name that the server refuses is asked for again: kept, it would keep its player out', async () => {
  const told = []
  const vault = { name: '\u202eAna', rename(name) { this.name = name } }
  const session = new Session({ connect: null, server: '', invite: null, vault, whyGuest: null, tell: (event) => told.push(event) })
  session.line = { connection: { close() {} } }
  await session.takeError({ code: 'bad_message', field: 'name' }, 'login', { name: vault.name })
  await session.pauseOrStop(Object.assign(new Error('bad_message'), { code: 'bad_message', retryable: false }))
  assert.deepEqual([session.isOver, vault.name], [false, null])
  const free = { variant: 'put', seats: [{ seat: 0, kind: 'empty' }], opts: [], options: {} }
  const state = folded(told, { ...FIRST, path: '/t/CODE', vault: { name: vault.name, isNew: true, why: null }, answers: { 'table CODE': free } })
  assert(textsOf(screenAt(state, 'en')).includes(SPEECHES.en.say('page.name_refused')))
})

test('a guest is called what they have said where nothing is kept, and comes back by a token once they have sat, or anew', async () => {
  const asked = []
  const session = Object.assign(new Session({ connect: null, server: '', invite: null, vault: null, whyGuest: 'keeps_nothing', asksName: true, tell() {} }), {
    met: { info: { caps: {} } }, attend: async () => ({ talk: null, meet() {} }),
    line: { isOpen: true, connection: { close() {} }, open() {}, ask: (t, fields) => asked.push([t, fields]) }
  })
  const named = session.nameIs('Ana')
  await session.prove(session.met)
  await named
  await session.enter({ name: 'Ana', token: 'first' })
  await session.prove(session.met)
  await session.enter({ name: 'Ana', token: 'second' })
  await session.sitDown('T', 0)
  await session.prove(session.met)
  await session.takeError({ code: 'bad_token' }, 'login', {})
  await session.pauseOrStop(Object.assign(new Error('bad_token'), { code: 'bad_token', retryable: false }))
  await session.prove(session.met)
  // by a token one is called as before: another name begins anew, but keeps no seat
  await session.enter({ name: 'Ana', token: 'third' })
  await session.sitDown('T', 0)
  const attended = { number: 0, meet() {} }
  for (const [name, seats] of [['Bea', [['T', attended]]], ['Cleo', []]]) {
    session.attended = new Map(seats)
    const renamed = session.nameIs(name)
    await new Promise(setImmediate)
    await session.prove(session.met)
    await renamed
  }
  assert.deepEqual([session.isOver, asked.filter(([t]) => t === 'login').map(([, fields]) => fields)], [
    false, [{ name: 'Ana' }, { name: 'Ana' }, { token: 'second' }, { name: 'Ana' }, { token: 'third' }, { name: 'Cleo' }]
  ])
})

test('a name that is said while the login is signed goes with it', async () => {
  const asked = []
  const vault = { name: null, async me() {} }
  const session = Object.assign(new Session({ connect: null, server: '', invite: null, vault, whyGuest: null, tell() {} }), {
    line: { ask: (t, fields) => asked.push([t, fields]) },
    greeting: { async prove() { vault.name = 'Ana' } }
  })
  await session.prove({ pin: null })
  assert.deepEqual(asked, [['login', { name: 'Ana' }]])
})

test('who plays is called as they have signed, where they have left the table before its match is told', () => {
  each(({ table, events }) => {
    const { message: setup } = events.find((event) => isTold(event, 'setup'))
    const { message: shown } = events.find((event) => isTold(event, 'table'))
    const left = { ...shown, state: 'over', seats: shown.seats.map(({ seat }) => ({ seat, kind: 'empty' })) }
    const after = folded([told(left), ...events.filter((event) => !isTold(event, 'table'))], at(table)).tables[table]
    assert.deepEqual(after.players, setup.names)
    assert(setup.names.length === shown.seats.length && setup.names.every((name) => name !== ''), setup.names)
  })
})

test('the end of a hand tells a player what it has brought, and who watches whose it is; that of a match tells its score', () => {
  const seen = { hand: 0, match: 0 }
  each(({ table, events }) => {
    const begin = events.findLastIndex((event) => isTold(event, 'record') && event.message.means.some(({ what }) => what === 'hand_won'))
    if (begin < 0) return
    for (const isOver of [false, true]) {
      const state = folded(isOver ? events : events.slice(0, events.findIndex((event, number) => number >= begin && isTold(event, 'record') && event.message.means.some(({ what }) => what === 'hands_opened')) + 1), at(table))
      const it = state.tables[table]
      if (it?.closed == null || (it.ended !== null) !== isOver) continue
      const { children: [title, badge] } = handEnd({ speech: SPEECHES.en, settings: SETTINGS }, it, SPEECHES.en.of(it.rules)).children[0].children[0]
      seen[isOver ? 'match' : 'hand']++
      if (isOver) assert.equal(it.ended.winner === null, badge === undefined)
      else if (it.seat === null) assert(badge === undefined && /^The hand (goes|is)/.test(title.text), title.text)
      if (isOver && badge !== undefined) assert.match(badge.children[0].text, /^\d+ – \d+$/)
    }
  })
  assert(seen.hand > 0 && seen.match > 0)
})

// Messages of one kind, and about one seat, come in their order; so do those around a record, a setup and an end.
const TALK = ['chat', 'said', 'sign']
const FREE = ['table', 'waiting', 'away', 'options', 'cards', 'lobby', 'draining', 'host_says', ...TALK]
const kindOf = ({ what, message }) => what !== 'told' ? what : TALK.includes(message.t) ? 'talk' : `${message.t} ${message.table} ${message.seat ?? message.of ?? ''}`
const isFree = (event) => ['checked', 'proved', 'kept', 'line', 'me'].includes(event.what) || isTold(event, ...FREE)

/** Windows in which the order is not promised. @param {any[]} events @returns {any[][]} */
function windows(events) {
  const found = [[]]
  for (const event of events) {
    if (isFree(event)) found.at(-1).push(event)
    else found.push([event], [])
  }
  return found
}

/** In another order, each kind in its own. */
function mixed(events, { random }) {
  const kinds = [...new Set(events.map(kindOf))].map((kind) => events.filter((event) => kindOf(event) === kind))
  const found = []
  while (found.length < events.length) found.push(kinds.filter((left) => left.length > 0)[random(kinds.filter((left) => left.length > 0).length)].shift())
  return found
}

/** What may come at any time beside a match. */
const beside = (table, { pick, random }) => pick([
  () => told({ t: 'lobby', online: random(9), tables: random(9), playing: 1 }),
  () => told({ t: 'chat', name: 'Zoe', text: 'hello' }),
  () => told({ t: 'chat', table, seat: 0, name: 'Ana', text: `${random(9)}` }),
  () => told({ t: 'table', table: 'ELSE', variant: 'put', seats: [{ seat: 0, kind: 'empty' }, { seat: 1, kind: 'key', name: 'Zoe' }], n: 2, state: 'open', private: false, options: {}, opts: [] }),
  () => told({ t: 'draining', left_ms: 1000 }),
  () => told({ t: 'host_says', text: 'tea' }),
  () => ({ what: 'line', state: pick(['waiting', 'opening']), code: 'timeout', retryMs: 500 }),
  () => ({ what: 'line', state: 'ready' })
])()

test('any order of notices that the protocol allows ends in the same picture', () => {
  each(({ table, events }, chance) => {
    for (let time = 0; time < TIMES; time++) {
      let [straight, other] = [at(table), at(table)]
      for (const window of windows(events)) {
        straight = folded(window, straight)
        other = folded(mixed(window, chance), other)
        if (window.length > 1) assert.deepEqual(settled(other), settled(straight))
      }
      assert.equal(shown(other, 'en'), shown(straight, 'en'))
    }
  })
})

test('what happens elsewhere changes nothing at a table', () => {
  each(({ table, events }, chance) => {
    const busy = folded(events.flatMap((event) => [event, beside(table, chance), beside(table, chance)]), at(table))
    const chats = { ...busy.tables[table], unread: 0 }
    assert.deepEqual({ ...chats, log: linesOf(chats) }, settled(folded(events, at(table)))[table])
  })
})

test('two matches at once stand beside each other as they stand alone', () => {
  VISITS.forEach((visit, number) => {
    const { random } = chanceOf(number)
    const other = VISITS[(number + 7) % VISITS.length]
    const [left, right] = [[...visit.events], other.events.map((event) => renamed(event, other.table, 'OTHER'))]
    const both = []
    while (left.length + right.length > 0) both.push((random(left.length + right.length) < left.length ? left : right).shift())
    const { tables } = folded(both)
    assert.deepEqual(tables[visit.table], folded(visit.events).tables[visit.table])
    assert.deepEqual(tables.OTHER, folded(other.events.map((event) => renamed(event, other.table, 'OTHER'))).tables.OTHER)
  })
})

/** An event of a table as one of another. */
const renamed = (event, from, to) => ({ ...event, ...(event.table === from && { table: to }), ...(event.message?.table === from && { message: { ...event.message, table: to } }) })

test('what comes twice is there once', () => {
  each(({ table, events }) => {
    const once = folded(events, at(table))
    const twice = folded(events.flatMap((event) => isTold(event, ...TALK) ? [event] : [event, event]), at(table))
    assert.deepEqual(settled(twice), settled(once))
  })
})

test('what is sent again after a connection was lost changes nothing, from whatever position', () => {
  each(({ table, events }, { random }) => {
    const records = events.flatMap((event, number) => isTold(event, 'record') ? [number] : [])
    for (let time = 0; time < TIMES; time++) {
      const from = random(records.length)
      const until = from + random(records.length - from)
      const again = events.slice(records[from], records[until] + 1).filter((event) => isTold(event, 'record'))
      const [before, later] = [events.slice(0, records[until] + 1), events.slice(records[until] + 1)]
      const cards = before.findLast((event) => isTold(event, 'cards') && event.message.k >= newestDeal(before))
      const backlog = [{ what: 'line', state: 'opening' }, ...again, ...(cards ? [cards] : [])]
      assert.deepEqual(settled(folded([...before, ...backlog, ...later], at(table))), settled(folded(events, at(table))))
    }
  })
})

/** Where the newest hand was dealt, or called. */
const newestDeal = (events) => events.findLast((event) => isTold(event, 'record') && event.message.means.some(({ what, cards }) => what === 'dealt' || (what === 'called' && cards > 0)))?.message.k ?? 0

test('a match that is sent again from its setup on, to whoever has got the seat back, is there once', () => {
  each(({ table, events }) => {
    const begun = events.findIndex((event) => isTold(event, 'setup'))
    const { seat } = events.find(({ what }) => what === 'seated')
    for (let cut = begun + 1; cut < events.length; cut += 5) {
      const lost = [...events.slice(0, cut), told({ t: 'seat_taken_over', table, seat }), { what: 'seated', table, seat }]
      assert.equal(folded(lost, at(table)).tables[table].gone, null)
      const state = folded([...lost, ...events.slice(begun)], at(table))
      assert.deepEqual(settled(state), settled(folded(events, at(table))))
    }
  })
})

test('a page that is loaded anew shows the hand as it was', () => {
  each(({ table, events }) => {
    const known = ({ hand, closed, ...others }) => ({ ...others, hand, closed: closed && { ...closed, own: [], gone: [], worth: null }, log: [], proof: null, chosen: null })
    let before = at(table)
    events.forEach((event, number) => {
      before = after(before, event)
      if (!isTold(event, 'record', 'options')) return
      const past = events.slice(0, number + 1)
      const newest = past.findLastIndex((each) => isTold(each, 'record'))
      const cards = past.slice(0, newest).filter((each) => isTold(each, 'cards') && each.message.k >= newestDeal(past))
      const backlog = past.filter((each, place) => each.what === 'seated' || isTold(each, 'table', 'setup', 'record', 'away') && place <= newest)
      assert.deepEqual(known(folded([...backlog, ...cards, ...past.slice(newest + 1)], at(table)).tables[table]), known(before.tables[table]))
    })
  })
})

test('behind a gap nothing is shown before what is missing has come', () => {
  each(({ table, events }, { random }) => {
    const records = events.flatMap((event, number) => isTold(event, 'record') ? [number] : [])
    for (let time = 0; time < TIMES; time++) {
      const lost = random(records.length - 1)
      const until = lost + 1 + random(records.length - lost - 1)
      const before = folded(events.slice(0, records[lost]), at(table))
      const behind = events.slice(records[lost] + 1, records[until] + 1).filter((event) => event.what === 'told')
      const halted = folded(behind, before)
      assert.equal(halted.tables[table].next, before.tables[table].next)
      assert.deepEqual(halted.tables[table].hand, before.tables[table].hand)
      assert.equal(halted.tables[table].options?.at ?? lost, lost)
      assert.deepEqual(settled(folded(events.slice(records[lost]), halted)), settled(folded(events, at(table))))
    }
  })
})

const GREASE = { 'x-1f': 7, grease_2: ['y', { z: null }], 'x-deep': { seat: 0, cards: [] } }
/** A value with what nobody knows in every map of it; facts that nobody knows beside others. */
function greased(value, name = '') {
  if (Array.isArray(value)) {
    const all = value.map((one) => greased(one))
    return name === 'means' ? [{ what: 'grease_first', seat: 0 }, ...all.slice(0, -1), { what: 'x-new', seat: 1, cards: ['7e'], side: 1, stake: 9 }, ...all.slice(-1)] : all
  }
  if (value === null || typeof value !== 'object') return value
  return { ...GREASE, ...Object.fromEntries(Object.entries(value).map(([key, one]) => [key, ['rules', 'options'].includes(key) ? one : greased(one, key)])) }
}

test('what nobody knows yet changes nothing that is shown', () => {
  each(({ name, table, events }) => {
    if (!['Ana', 'everybody'].includes(name)) return
    let [plain, other] = [at(table), at(table)]
    events.forEach((event, number) => {
      plain = after(plain, event)
      other = after(other, event.what === 'told' ? told(greased(event.message)) : { ...event, ...GREASE })
      for (const t of ['grease_9', 'x-news', 'snapshots']) other = after(other, told({ t, table, seat: 0, k: number, means: [] }))
      other = after(other, { what: 'x-told', table })
      const lang = LANGUAGES[number % LANGUAGES.length]
      if (isTold(event, 'options') || number === events.length - 1) assert.equal(shown(other, lang), shown(plain, lang))
    })
  })
})

test('a match that is shown again shows after each record what was seen when it came', () => {
  each(({ name, table, events }) => {
    if (name !== 'everybody') return
    const setup = events.find((event) => isTold(event, 'setup')).message
    const means = events.filter((event) => isTold(event, 'record')).map(({ message }) => message.means)
    const story = frozen(storyOf({ match: setup.match, rules: setup.rules, names: ['Ana', 'Ben', 'Cleo', 'Dora'], seat: null, means }))
    let state = at(table)
    const known = ({ view, next, ended, hand, paused }) => ({ view, next, ended, paused, hand: { ...hand, own: [], opened: {} } })
    for (const event of events) {
      state = after(state, event)
      if (isTold(event, 'record')) assert.deepEqual(known(tableAfter(story, event.message.k + 1)), known(state.tables[table]))
    }
    for (const seat of [0, 1, null]) for (let count = 0; count <= means.length; count++) tableAfter(frozen({ ...story, seat }), count)
    for (const step of [stepFrom, handFrom]) {
      for (let count = 0; count <= means.length; count++) {
        for (const way of [1, -1]) {
          const to = step(story, count, way)
          assert(to >= 0 && to <= means.length && (way > 0 ? to >= count : to <= count))
        }
      }
    }
  })
})

test('the key of the chat leads to where one writes, whatever was read there, and Escape back to the keys that play', () => {
  const { table, events } = VISITS.find((visit) => visit.events.some((event) => isTold(event, 'setup')))
  const ui = uiAt(folded(events, at(table)), 'en', { tab: 'rules' })
  ui.happen = (event) => { ui.state = reduce(ui.state, event) }
  ui.draw = () => {}
  ui.dialog = null
  const focused = () => propsIn(screenOf(ui)).filter((props) => props['data-focus'] === true).map(({ name }) => name)
  const press = (key, target) => keyPressed(ui, { key, target, preventDefault() {} })
  assert.deepEqual(focused(), [])
  press('c', { tagName: 'BODY' })
  assert.deepEqual(focused(), ['text'])
  let isLeft = false
  press('Escape', { tagName: 'INPUT', blur: () => { isLeft = true } })
  assert.deepEqual([isLeft, focused()], [true, []])
})

test('a match that cannot be judged for want of a connection says so, and is judged when that is pressed', async () => {
  await load('m')
  const { message: setup } = VISITS[0].events.find((event) => isTold(event, 'setup'))
  const story = storyOf({ match: setup.match, rules: setup.rules, names: setup.names, seat: null, means: [] })
  const answers = { [`story ${setup.match}`]: story, [`verdict ${setup.match}`]: { t: 'error', code: 'no_line' } }
  const ui = uiAt({ ...FIRST, path: `/m/${setup.match}`, answers }, 'en', { at: 0 })
  ui.happen = (event) => { ui.state = reduce(ui.state, event) }
  ui.wish = async () => ({ t: 'ok', result: 'proven' })
  const badge = () => propsIn(screenOf(ui)).find(({ class: look }) => look?.startsWith('badge'))
  assert.equal(badge()['aria-label'], 'There is no connection at the moment. Check again')
  await badge().onclick()
  assert.equal(badge()['aria-label'], 'Checked again from the file')
})

test('every option of every game can be pressed, says what it answers, and is called something', () => {
  const answering = new Map()
  for (const { document, seats, steps } of hands) {
    const rules = rulesOf(fromHex(document))
    const names = NAMES.slice(0, seats)
    const people = names.map((name, seat) => ({ seat, kind: 'key', name, ready: true, online: true }))
    const begin = [
      told({ t: 'table', table: 'T', variant: rules.variant, seats: people, n: seats, state: 'playing', opts: [], options: {}, private: true }),
      told({ t: 'setup', table: 'T', match: '00', rules })
    ]
    let views = names.map((_, seat) => folded([{ what: 'seated', table: 'T', seat }, ...begin], at('T')))
    steps.forEach(({ means, cards, options, answers, chosen }, k) => {
      views = views.map((state, seat) => {
        const ready = chosen?.seat === seat ? after(state, { what: 'chose', table: 'T', at: k, key: chosen.key }) : state
        let next = after(ready, told({ t: 'record', table: 'T', match: '00', k, means }))
        if (cards !== null && cards[seat] !== null) next = after(next, told({ t: 'cards', table: 'T', match: '00', k, j: 1, d: 0, cards: cards[seat] }))
        if (options[seat].length > 0) next = after(next, told({ t: 'options', table: 'T', match: '00', at: k + 1, offer: k, must: true, list: options[seat] }))
        return next
      })
      views.forEach((state, seat) => {
        const lang = LANGUAGES[(k + seat) % LANGUAGES.length]
        if (k % 3 === 0 && k % seats === seat) checkWords(state, lang)
        if (state.tables.T.hand.own.length > 0) assert.equal(ownCards(state.tables.T, null).length, heldBy(state.tables.T, seat), `${rules.variant}: own cards`)
        if (options[seat].length > 0) checkOptions(state, lang, answers, answering)
      })
    })
  }
  assert.deepEqual([...answering.keys()].sort(), ['envido', 'flor', 'last-point', 'redeal', 'rest', 'stake'])
})

const ANSWERS = ['accept', 'decline']

/** What each of several moves in one slot is called. */
const choicesIn = (shown) => shown.props?.class === 'choices' ? shown.children.map((button) => button.children.map((each) => textsOf(each).join(' ')).join(', ')) : (shown.children ?? []).flatMap(choicesIn)

function checkOptions(state, lang, answers, answering) {
  const table = state.tables.T
  const speech = SPEECHES[lang].of(table.rules)
  const buttons = buttonsOf(table, speech, null)
  const pressed = buttons.flatMap(({ options }) => options)
  const played = [null, 'play-raise', 'cover'].flatMap((armed) => ownCards(table, armed).map(({ option }) => option))
  for (const option of table.options.list) {
    const where = `${table.rules.variant} ${option.key}`
    assert(slotOf(option) === null ? played.includes(option) : pressed.includes(option), `${where} cannot be pressed`)
    const { word } = speech.move(option, answeringOf(table), NAMES)
    assert.notEqual(word, '', where)
    assert.notEqual(speech.meaning(option.key, answeringOf(table), option.hints), '', where)
  }
  for (const { word, letter, title, id } of buttons) assert(word !== '' && letter.length === 1 && title !== '', `${table.rules.variant} ${id}`)
  for (const { id, word, options } of buttons.filter((each) => each.options.length > 1 && !ARMED.includes(each.id))) {
    const called = choicesIn(screenAt(state, lang, { chooser: id }))
    assert.deepEqual([called.length, new Set(called).size], [options.length, options.length], `${table.rules.variant}: ${called}`)
    const words = options.map((option) => speech.move(option, answeringOf(table), NAMES).word)
    assert(new Set(words).size === 1 || !words.includes(word), `${table.rules.variant} ${lang}: the slot of ${words} is called as one of them`)
  }
  const isAsked = table.options.list.some(({ kind }) => ANSWERS.includes(kind))
  if (!isAsked) return
  assert.equal(answeringOf(table), answers, `${table.rules.variant}: ${JSON.stringify(table.hand.facts.slice(-6))}`)
  answering.set(answers, true)
  if (answers !== 'last-point') assert(bubblesOf(table, speech).some(({ isCall }) => isCall), `${table.rules.variant}: what is asked stands over nobody, ${JSON.stringify(table.hand.facts.slice(-9))}`)
}

test('what a browser has closed its database for is never sent without being stored', async () => {
  const closed = { transaction() { throw new DOMException('the database connection is closing', 'InvalidStateError') } }
  const vault = new Vault(closed)
  vault.kept.tables['00'] = {}
  const given = { store: vault, me: { sign: async () => new Uint8Array(64) }, setup: { th: new Uint8Array(1) } }
  const seat = Object.assign(Object.create(Seat.prototype), given)
  const own = { signed: {} }
  // whoever presses again signs again, and may choose otherwise
  for (const kind of ['play', 'fold']) await assert.rejects(() => seat.signed(own, 'act 4', ['truc/1/act', 4, kind]), NotKept)
  for (const read of [() => vault.matches(), () => vault.match('00')]) await assert.rejects(read, NotKept)
})
