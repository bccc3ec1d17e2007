// What the screens around the table have in common: the bar, what is not as it should be, a sheet over them.

import { h } from '../h.mjs'
import { familiesOf } from '../games.mjs'
import { icon } from './cards.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../games.mjs').Way} Way */

/** A screen with a title and the way back. @param {Ui} ui @param {string} name @param {string} title @param {...any} body */
export function room(ui, name, title, ...body) {
  const { speech, link } = ui
  return h('div', { class: 'room', key: name },
    h('header', { class: 'bar page' }, h('a', { class: 'ic', href: '/', onclick: link, 'aria-label': speech.say('page.lobby') }, icon('back')),
      h('h1', null, title), h('span', { class: 'sp' }), h('a', { class: 'brand', href: '/', onclick: link, tabindex: -1, 'aria-hidden': 'true' }, 'truc')),
    h('main', { class: 'page' }, trouble(ui), body))
}

/** No connection, or the server is about to stop. @param {Ui} ui */
export function trouble({ state, speech }) {
  const lines = [
    state.line.movedTo !== null ? `${speech.say('page.moved')}: ${state.line.movedTo}`
      : state.line.state !== 'ready' && speech.say(state.me === null ? 'page.connecting' : 'page.reconnecting'),
    state.drainsUntil !== null && speech.say('page.draining')
  ].filter(Boolean)
  return lines.length > 0 && h('div', { class: 'trouble', role: 'status', key: 'trouble' }, lines.map((text) => h('p', null, text)))
}

/** A part of a screen, with what belongs beside its heading. @param {string} title @param {any} beside @param {...any} body */
export const part = (title, beside, ...body) => h('section', { class: 'card', key: title }, h('div', { class: 'head' }, h('h2', null, title), beside), body)

/** What lies over a screen until it is answered. @param {Ui} ui @param {string} name @param {string} title @param {any[]} body @param {any[]} [buttons] */
export function over(ui, name, title, body, buttons = []) {
  const shut = () => ui.put('sheet', null)
  return h('div', { class: 'veil', key: `sheet-${name}`, onclick: (/** @type {any} */ event) => event.target === event.currentTarget && shut() },
    h('section', { class: 'sheet small', role: 'dialog', 'aria-modal': 'true', 'aria-label': title, 'data-dialog': name }, h('h2', null, title), body,
      h('div', { class: 'go' }, buttons, h('button', { class: 'b', type: 'button', onclick: shut }, h('b', null, ui.speech.say('page.back'))))))
}

/**
 * One of several, as buttons beside each other.
 *
 * @param {string} label what is chosen
 * @param {{ value: any, text: string, more?: string }[]} choices
 * @param {any} chosen
 * @param {(value: any) => void} choose
 */
export const choice = (label, choices, chosen, choose) => h('div', { class: 'choice', role: 'group', 'aria-label': label },
  choices.map(({ value, text, more }) => h('button', { class: 'b', type: 'button', key: String(value), 'aria-pressed': String(value === chosen), onclick: () => choose(value) },
    h('b', null, text), more && h('small', null, more))))

/** A game and how many play it. @param {Ui} ui @param {Way} way @param {(way: Way) => void} choose */
export function gameField(ui, way, choose) {
  const { state, speech, settings } = ui
  const families = familiesOf(state.server.variants, { tongue: speech.catalogue.lang, last: settings.last })
  const seatsOf = (/** @type {string} */ variant) => state.server.variants.find((/** @type {any} */ { name }) => name === variant)?.seats ?? []
  const play = (/** @type {string} */ variant) => choose({ variant, seats: seatsOf(variant).includes(way.seats) ? way.seats : Math.min(...seatsOf(variant)) })
  return [
    h('label', { class: 'field', key: 'game' }, h('span', null, speech.say('new_table.which')), h('select', { name: 'variant', value: way.variant, onchange: (/** @type {any} */ event) => play(event.currentTarget.value) },
      families.map((family) => h('optgroup', { label: ui.gameName(family.name) }, family.forms.map((form) => h('option', { value: form.name }, ui.gameName(form.name))))))),
    choice(speech.say('lobby.players'), seatsOf(way.variant).map((/** @type {number} */ n) => ({ value: n, text: speech.say('page.for_players', { n }) })), way.seats, (seats) => choose({ ...way, seats }))
  ]
}
