// A table of one's own: which game, on which terms, and then the link to it.

import { h } from '../h.mjs'
import { invite } from '../sharing.mjs'
import { CLOCKS, choicesOf, choicesOfPlayers, chosen, clockOf, dealtByPlayers, presetOf, presetsOf, whyDealt, withClock } from '../options.mjs'
import { capital } from '../words.mjs'
import { ownWay, remember } from './lobby_side.mjs'
import { qr } from './qr_code.mjs'
import { whyNotDeal } from './sealed.mjs'
import { nameForm, timeOf } from './sit.mjs'
import { choice, gameField, part, room } from './room.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../games.mjs').Way} Way */
/** @typedef {import('../options.mjs').Options} Options */

/** @param {Ui} ui */
export function screen(ui) {
  const { state, speech } = ui
  const way = state.screen.way ?? ownWay(ui)
  if (state.me === null || way === null) return room(ui, 'new-table', speech.say('new_table.title'))
  if (state.screen.made) return made(ui, state.screen.made)
  ui.once('rules', way.variant, () => ui.fetch(`rules ${way.variant}`, 'rules', { variant: way.variant }))
  return room(ui, 'new-table', speech.say('new_table.title'), part(speech.say('new_table.game'), null, gameField(ui, way, (to) => { ui.put('way', to); ui.put('options', {}) })), terms(ui, way))
}

/** @param {Ui} ui @param {Way} way */
function terms(ui, way) {
  const { state, speech } = ui
  const rules = state.answers[`rules ${way.variant}`]?.rules ?? null
  /** @type {Options} */
  const options = state.screen.options ?? {}
  const isPrivate = state.screen.isPrivate ?? false
  const why = whyServerDeals(ui, rules, options)
  const isBlind = why === null && state.screen.isBlind === true
  const choices = isBlind ? choicesOfPlayers(choicesOf(rules, way.seats)) : choicesOf(rules, way.seats)
  const sent = isBlind ? dealtByPlayers(options) : options
  const field = (/** @type {import('../options.mjs').Choice} */ each) => optionField(ui, each, options)
  return part(speech.say('new_table.terms'), null,
    choice(speech.say('new_table.terms'), Object.keys(presetsOf(rules)).map((name) => ({ value: name, text: speech.say(`new_table.${name}`), more: speech.say(`new_table.${name}_more`) })), presetOf(rules, options, isPrivate),
      (name) => { const preset = presetsOf(rules)[name]; ui.put('options', preset.options); ui.put('isPrivate', preset.isPrivate) }),
    h('div', { class: 'fields' }, choices.filter(({ name }) => name === 'target').map(field), clockField(ui, options), choices.filter(({ name, isMore }) => !isMore && name !== 'target').map(field), why === null && dealField(ui, isBlind)),
    why !== null ? h('p', { class: 'dim', key: 'mode' }, speech.say('new_table.mode_dealt_only', { why })) : isBlind && h('p', { class: 'dim', key: 'mode' }, speech.say('sealed.how')),
    h('label', { class: 'switch' }, h('input', { type: 'checkbox', name: 'private', checked: isPrivate, onchange: (/** @type {any} */ event) => ui.put('isPrivate', event.currentTarget.checked) }), ' ', speech.say('new_table.private')),
    h('details', { class: 'further' }, h('summary', null, speech.say('new_table.more')), h('div', { class: 'fields' }, choices.filter(({ isMore }) => isMore).map(field))),
    state.vault?.name === null ? nameForm(ui, speech.say('new_table.open'), () => open(ui, way, sent, isPrivate))
      : h('p', { class: 'go' }, h('button', { class: 'b yes', onclick: () => open(ui, way, sent, isPrivate) }, h('b', null, speech.say('new_table.open')))))
}

/** Why the server deals at a new table, as a sentence goes on; null where the players may. @param {Ui} ui @param {import('../options.mjs').Rules | null} rules @param {Options} options */
function whyServerDeals(ui, rules, options) {
  const why = whyNotDeal(ui)
  const ofGame = whyDealt(rules, options)
  return why ?? (ofGame === null ? null : ui.speech.say(`sealed.not_${ofGame}`))
}

/** Who deals. @param {Ui} ui @param {boolean} isBlind */
function dealField(ui, isBlind) {
  const all = ['dealt', 'blind'].map((value) => ({ value, text: ui.speech.say(`new_table.mode_${value}`) }))
  return listed(ui, 'mode', isBlind ? 'blind' : 'dealt', all, (value) => ui.put('isBlind', value === 'blind'))
}

/** @param {Ui} ui @param {string} name @param {string} value @param {{ value: string, text: string }[]} all @param {(value: string) => void} choose */
const listed = ({ speech }, name, value, all, choose) => h('label', { class: 'field', key: name }, h('span', null, speech.say(`new_table.${name}`)),
  h('select', { name, value, onchange: (/** @type {any} */ event) => choose(event.currentTarget.value) }, all.map((each) => h('option', { value: each.value }, each.text))))

/** @param {Ui} ui @param {import('../options.mjs').Choice} choice @param {Options} options */
function optionField(ui, choice, options) {
  const { name, values, usual } = choice
  const known = values.map((value) => ({ value: String(value), text: valueText(ui, name, value) }))
  const all = usual === null ? [{ value: '', text: ui.speech.say('new_table.as_usual') }, ...known] : known
  const set = (/** @type {string} */ text) => ui.put('options', chosen(options, choice, values.find((value) => String(value) === text) ?? null))
  return listed(ui, name, String(options[name] ?? usual ?? ''), all, set)
}

/** @param {Ui} ui @param {string} name @param {import('../options.mjs').Value} value */
function valueText({ speech }, name, value) {
  if (name === 'target') return String(value)
  if (name === 'match' && value !== 1) return speech.say('screen.best_of', { n: value })
  if (name === 'guests' && value !== 0) return speech.say('new_table.guests_all')
  if (value === 'on' || value === 'off') return speech.say(`new_table.${value}`)
  return speech.say(`new_table.${name}_${value}`)
}

/** @param {Ui} ui @param {Options} options */
function clockField(ui, options) {
  const { speech } = ui
  const text = (/** @type {string} */ name) => {
    const { decision_ms: decision, bank_ms: bank } = CLOCKS[name]
    if (name === 'none') return capital(speech.say('screen.no_hurry'))
    return name === 'day' ? speech.say('new_table.a_day') : speech.say('screen.pace_with_bank', { time: timeOf(Number(decision)), bank: timeOf(Number(bank)) })
  }
  const all = [{ value: '', text: speech.say('new_table.as_usual') }, ...Object.keys(CLOCKS).map((name) => ({ value: name, text: text(name) }))]
  return listed(ui, 'clock', clockOf(options), all, (clock) => ui.put('options', withClock(options, clock)))
}

/** @param {Ui} ui @param {Way} way @param {Options} options @param {boolean} isPrivate */
async function open(ui, { variant, seats }, options, isPrivate) {
  await ui.ready()
  const guests = ui.state.me?.isKeyed || 'guests' in options ? {} : { guests: seats }
  const answer = await ui.ask('create', { variant, seats, options: { ...options, ...guests }, private: isPrivate })
  if (answer === null) return
  remember(ui, { variant, seats })
  ui.put('made', answer.table)
  ui.ask('ready', { table: answer.table }, { isQuiet: true })
}

/** The link of the new table, until somebody has come by it. @param {Ui} ui @param {string} code */
function made(ui, code) {
  const { state, speech, link } = ui
  const table = state.tables[code]
  const url = `${location.origin}/t/${code}`
  if (table !== undefined && table.view.phase !== 'none') setTimeout(() => ui.go(`/t/${code}`, true))
  const seats = table?.shown?.seats ?? []
  const names = seats.filter((/** @type {any} */ { seat, kind }) => kind !== 'empty' && seat !== table?.seat).map((/** @type {any} */ { name }) => name)
  return room(ui, 'made', speech.say('new_table.made'), h('section', { class: 'card made' },
    h('p', null, speech.say('new_table.made_how')), h('p', { class: 'url' }, url),
    h('div', { class: 'go' }, h('button', { class: 'b yes', onclick: () => invite(ui, /** @type {any} */ ({ code })) }, h('b', null, speech.say('new_table.copy'))), h('a', { class: 'b', href: `/t/${code}`, onclick: link }, h('b', null, speech.say('new_table.to_table')))),
    qr(url, speech.say('new_table.qr')),
    h('p', { role: 'status' }, names.length > 0 ? speech.say('new_table.came', { names: speech.joined(names) }) : speech.say('page.waiting_for_players'))))
}
