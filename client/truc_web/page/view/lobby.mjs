// The lobby: what one can go back to, a quick game, the tables, the talk, who is best, one's own matches.

import { h } from '../h.mjs'
import { familiesOf, lookOf, wayOf } from '../games.mjs'
import { LANGUAGES, NAMES_OF_LANGUAGES } from '../settings.mjs'
import { card, icon } from './cards.mjs'
import { keyReminder } from './key_reminder.mjs'
import { lobbySide, remember } from './lobby_side.mjs'
import { quickOf, rowsOf } from './lobby_model.mjs'
import { capital } from '../words.mjs'
import { isMine } from '../state/table.mjs'
import { namesOf, scoreOf } from './model.mjs'
import { choice, over, part, trouble } from './room.mjs'
import { isSealed } from './sealed.mjs'
import { nameForm } from './sit.mjs'

const FEW = 4     // families that are shown at first
const MINUTE_MS = 60000
const AGAIN_MS = 3000
const LONGEST_ASKED_MS = 120000     // a timer that is given more than it can count is over at once

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../games.mjs').Way} Way */
/** @typedef {import('../games.mjs').Family} Family */

/** @param {Ui} ui */
export function screen(ui) {
  const { state, speech } = ui
  if (state.server === null || state.me === null) return h('main', { class: 'page', key: 'lobby' }, h('h1', { class: 'wait' }, speech.say('page.connecting')))
  ui.once('lobby', '', () => follow(ui))
  return h('div', { class: 'lobby', key: 'lobby' }, bar(ui),
    h('main', { class: 'page' }, trouble(ui), own(ui), keyReminder(ui), welcome(ui), quick(ui),
      h('div', { class: 'cols' }, tables(ui), h('aside', null, lobbySide(ui)))),
    sheet(ui))
}

/** The tables and the talk; whoever comes too often in a short time is told when they may ask again. @param {Ui} ui */
async function follow(ui) {
  const answer = await ui.ask('lobby', {}, { isQuiet: true })
  // a page that is loaded again and again is refused the list for some seconds, and would show an empty house
  if (answer.t === 'error') setTimeout(() => follow(ui), Math.min(answer.retry_after_ms ?? AGAIN_MS, LONGEST_ASKED_MS))
}

/** @param {Ui} ui */
function bar(ui) {
  const { state, speech, link } = ui
  const { lang } = speech.catalogue
  return h('header', { class: 'bar page' }, h('a', { class: 'brand', href: '/', onclick: link }, 'truc'),
    h('h1', null, state.server.name, state.lobby && h('small', null, speech.say('page.house', state.lobby))), h('span', { class: 'sp' }),
    h('a', { class: 'chip me', href: '/settings', onclick: link }, state.me.name),
    h('span', { class: 'ic lang' }, h('span', { 'aria-hidden': 'true' }, lang.toUpperCase()), languages(ui)),
    h('a', { class: 'ic', href: '/settings', onclick: link, 'aria-label': speech.say('page.settings') }, icon('menu')))
}

/** Which language, as a list; each by its own name. @param {Ui} ui */
export const languages = (ui) => h('select', { 'aria-label': ui.speech.say('lobby.language'), value: ui.speech.catalogue.lang, onchange: (/** @type {any} */ event) => ui.set('lang', event.currentTarget.value) },
  LANGUAGES.map((each) => h('option', { value: each, lang: each }, NAMES_OF_LANGUAGES[each])))

/** Seats that are held. @param {Ui} ui */
function own(ui) {
  const { state, speech, link } = ui
  return Object.values(state.tables).filter(({ seat, gone }) => seat !== null && gone === null).map((table) => {
    const isPlayed = table.view.phase !== 'none' && table.ended === null
    const others = namesOf(table, speech).filter((_, each) => each !== table.seat && table.shown?.seats[each].kind !== 'empty')
    const goesOn = others.length > 0 ? speech.say('lobby.goes_on_with', { names: speech.joined(others) }) : speech.say('page.goes_on')
    return h('section', { class: 'card back', key: `own-${table.code}` },
      h('span', null, h('b', null, isPlayed ? goesOn : speech.say(table.ended !== null ? 'lobby.table_over' : 'lobby.table_waits')), ' ', ownMore(ui, table, isPlayed)),
      h('a', { class: 'b yes', href: `/t/${table.code}`, onclick: link }, h('b', null, speech.say('page.back_to_it'))))
  })
}

/** @param {Ui} ui @param {import('../state/table.mjs').Table} table @param {boolean} isPlayed */
function ownMore(ui, table, isPlayed) {
  const side = (table.seat ?? 0) % 2
  const [us, them] = [side, 1 - side].map((each) => scoreOf(table, each, ui.speech).points)
  return [
    ui.gameName(table.shown?.variant ?? ''), isPlayed && ui.speech.say('lobby.score', { us, them }), isPlayed && isMine(table) && ui.speech.say('page.your_turn')
  ].filter(Boolean).join(', ')
}

/** A name, if there is none yet. @param {Ui} ui */
const welcome = (ui) => ui.state.vault?.name === null && h('section', { class: 'card', key: 'welcome' },
  h('h2', null, ui.speech.say('lobby.your_name')), nameForm(ui, ui.speech.say('page.that_is_me'), () => {}))

/** @param {Ui} ui @param {Family} family */
const usualWay = (ui, family) => wayOf(family, ui.settings.ways[family.name] ?? null)

/** @param {Ui} ui */
function quick(ui) {
  const { state, speech, settings } = ui
  const families = familiesOf(state.server.variants, { tongue: speech.catalogue.lang, last: settings.last })
  const isAll = state.screen.all === true
  const shown = isAll ? families : families.slice(0, FEW)
  return h('section', { key: 'quick', 'aria-label': speech.say('page.play_now') },
    h('div', { class: 'play' }, shown.map((family) => tile(ui, family))),
    families.length > FEW && h('p', { class: 'more' }, h('button', { class: 'chip', 'aria-expanded': String(isAll), onclick: () => ui.put('all', !isAll) },
      isAll ? speech.say('lobby.fewer_games') : speech.say('lobby.all_games', { n: families.length }))))
}

/** @param {Ui} ui @param {Family} family */
function tile(ui, family) {
  const { state, speech } = ui
  const { waiting, table, way } = quickOf(family, Object.values(state.listed), state.me, usualWay(ui, family))
  const { cards, isFrench } = lookOf(family.name)
  const pack = { isFrench, isFour: ui.settings.isFour, letters: speech.catalogue.letters, nameOf: () => '' }
  const forms = family.forms.reduce((sum, { seats }) => sum + seats.length, 0)
  const game = ui.gameName(family.name)
  return h('div', { class: 'tile', key: family.name },
    h('button', { class: 'now', onclick: () => start(ui, way, table) }, h('span', { class: 'pair-of', 'aria-hidden': 'true' }, cards.map((each) => card(each, pack))),
      h('b', null, ui.gameName(way.variant)), h('small', null, [waiting > 0 ? speech.say('lobby.waiting', { n: waiting }) : speech.say('page.play_now'), speech.say('page.for_players', { n: way.seats })].join(' · '))),
    forms > 1 && h('button', { class: 'ways', 'aria-label': speech.say('lobby.other_ways', { game }), onclick: () => { ui.put('family', family.name); ui.put('way', way); ui.put('sheet', 'ways') } }, icon('more')))
}

/** @param {Ui} ui */
function sheet(ui) {
  const { state, speech } = ui
  if (state.screen.sheet === 'ways') return ways(ui)
  if (state.screen.sheet !== 'name') return null
  const { way, table } = state.screen.wanted
  return over(ui, 'name', speech.say('lobby.your_name'), [nameForm(ui, speech.say('page.sit_down'), () => { ui.put('sheet', null); play(ui, way, table) })])
}

/** The forms of one game. @param {Ui} ui */
function ways(ui) {
  const { state, speech } = ui
  const family = familiesOf(state.server.variants, { tongue: '', last: null }).find(({ name }) => name === state.screen.family)
  if (family === undefined) return null
  const way = wayOf(family, state.screen.way)
  const turn = (/** @type {Partial<Way>} */ change) => ui.put('way', { ...way, ...change })
  const offered = (/** @type {string} */ variant) => family.forms.find(({ name }) => name === variant)?.seats ?? []
  const seats = offered(way.variant)
  return over(ui, 'ways', ui.gameName(family.name), [
    family.forms.length > 1 && choice(speech.say('lobby.form'), family.forms.map(({ name }) => ({ value: name, text: ui.gameName(name) })), way.variant,
      (variant) => turn({ variant, seats: offered(variant).includes(way.seats) ? way.seats : Math.min(...offered(variant)) })),
    seats.length > 1 && choice(speech.say('lobby.players'), seats.map((n) => ({ value: n, text: speech.say('page.for_players', { n }) })), way.seats, (n) => turn({ seats: n }))
  ], [
    h('button', { class: 'b yes', onclick: () => start(ui, way, null) }, h('b', null, capital(speech.say('page.play_now')))),
    h('button', { class: 'b', onclick: () => { remember(ui, way); ui.go('/play') } }, h('b', null, speech.say('lobby.own_table')))
  ])
}

/** Sit down to a game, once there is a name. @param {Ui} ui @param {Way} way @param {string | null} table */
function start(ui, way, table) {
  if (ui.state.vault?.name !== null) return play(ui, way, table)
  ui.put('wanted', { way, table })
  ui.put('sheet', 'name')
}

/** @param {Ui} ui @param {Way} way @param {string | null} table where somebody waits */
async function play(ui, way, table) {
  remember(ui, way)
  const { variant, seats } = way
  const options = ui.state.me?.isKeyed ? {} : { guests: seats }
  // whoever was faster there is no reason to stop here
  const joined = table === null ? null : await ui.ask('join', { table }, { isQuiet: true })
  const answer = joined?.t === 'ok' ? { table } : await ui.ask('seek', { variant, seats, options })
  if (answer === null) return
  ui.go(`/t/${answer.table}`)
  ui.ask('ready', { table: answer.table }, { isQuiet: true })
}

/** @param {Ui} ui */
function tables(ui) {
  const { state, speech, link } = ui
  const rows = rowsOf(Object.values(state.listed), state.me, ui.settings.last)
  const invite = h('a', { class: 'chip', href: '/play', onclick: link }, `+ ${speech.say('page.invite')}`)
  return part(speech.say('page.tables'), invite, rows.length === 0 ? h('p', { class: 'dim' }, speech.say('lobby.no_tables'))
    : h('ul', { class: 'rows' }, rows.map((row) => tableRow(ui, row))))
}

/** @param {Ui} ui @param {ReturnType<typeof rowsOf>[number]} row */
function tableRow(ui, { table, deed, taken }) {
  const { speech } = ui
  const { variant, n, seats, state, age_ms: age = 0, options } = table
  const names = seats.map((/** @type {any} */ { name }) => name).filter(Boolean)
  const about = [
    speech.say('page.for_players', { n }), options.target && speech.say('screen.to_target', { target: options.target }), isSealed(table) && speech.say('sealed.chip'),
    state === 'playing' && age > MINUTE_MS && speech.say('lobby.minutes', { n: Math.floor(age / MINUTE_MS) })
  ].filter(Boolean).join(' · ')
  return h('li', { key: table.table }, h('div', null, h('b', null, ui.gameName(variant)), h('small', null, about)), h('span', { class: 'names' }, names.join(', ')),
    h('span', { class: 'dots', role: 'img', 'aria-label': speech.say('page.seats_taken', { taken, seats: n }) }, seats.map((/** @type {any} */ { kind }) => h('i', { class: kind === 'empty' ? '' : 'f' }))),
    h('span', { class: 'deed' }, deedButton(ui, table, deed, names)))
}

/** @param {Ui} ui @param {any} table @param {import('./lobby_model.mjs').Deed} deed @param {string[]} names */
function deedButton(ui, { table, variant, n }, deed, names) {
  const { speech, link } = ui
  if (deed === null) return h('small', { class: 'dim' }, speech.say('lobby.closed_doors'))
  const word = speech.say({ back: 'page.back_to_it', sit: 'page.sit', watch: 'page.watch' }[deed])
  const about = { 'aria-label': `${word}: ${ui.gameName(variant)}, ${names.join(', ')}` }
  if (deed === 'back') return h('a', { class: 'b', href: `/t/${table}`, onclick: link, ...about }, h('b', null, word))
  const press = deed === 'sit' ? () => start(ui, { variant, seats: n }, table) : () => watch(ui, table)
  return h('button', { class: `b ${deed === 'sit' ? 'yes' : ''}`, onclick: press, ...about }, h('b', null, word))
}

/** @param {Ui} ui @param {string} code */
async function watch(ui, code) {
  if (await ui.wish('watch', { table: code }) !== null) ui.go(`/w/${code}`)
}
