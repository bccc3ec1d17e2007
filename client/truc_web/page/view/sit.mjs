// The way to a seat: who waits, which game, a name, one button.

import { h } from '../h.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */

const NAME_LETTERS = 24
/** A table that admits no watchers: nothing is known of it before one sits there. */
const UNSEEN = { t: 'table', variant: '', seats: [] }

/** @param {Ui} ui @param {string} code */
export function sitScreen(ui, code) {
  const { speech, state } = ui
  const found = state.listed[code] ?? state.tables[code]?.shown ?? state.answers[`table ${code}`]
  if (found === undefined) look(ui, code)
  else if (found === null || found.t === 'error') return goneScreen(ui)
  const form = nameForm(ui, speech.say('page.sit_down'), (isNew) => sit(ui, code, isNew), true)
  if (found === undefined) {
    return h('main', { class: 'page', key: 'sit' }, h('section', { class: 'card sit' }, h('div', { class: 'hero', 'aria-hidden': 'true' }),
      h('h1', null, speech.say('page.connecting')), h('p', null, '\u00a0'), form))
  }
  const seats = found.seats
  const sealed = ui.sealedTerms?.(ui, found)
  const waiting = seats.filter((/** @type {any} */ { name }) => name).map((/** @type {any} */ { name }) => name)
  const isFull = seats.length > 0 && seats.every((/** @type {any} */ { kind, name }) => kind ? kind !== 'empty' : Boolean(name))
  const title = waiting.length > 0 ? speech.say(speech.catalogue.singular.includes(waiting.length) ? 'page.waits_for_you' : 'page.wait_for_you', { names: speech.joined(waiting) }) : speech.say('page.free_table')
  return h('main', { class: 'page', key: 'sit' }, h('section', { class: 'card sit' }, h('div', { class: 'hero', 'aria-hidden': 'true' }, ui.drawings?.hero(found.variant, ui.settings.isFour, speech.catalogue.letters)),
    h('h1', null, isFull ? speech.say('page.table_full') : title), seats.length > 0 && h('p', null, ui.gameName(found.variant), ', ', speech.say('page.for_players', { n: seats.length })),
    isFull ? wayOut(ui) : sealed?.why ? h('p', { role: 'status' }, sealed.why) : form,
    h('p', { class: 'facts' }, [sealed?.chip, ...chips(found, ui)].filter(Boolean).map((/** @type {string} */ text) => h('span', { class: 'chip' }, text))),
    h('p', null, seats.length > 0 && [h('button', { class: 'link', onclick: () => watch(ui, code) }, speech.say('page.just_watch')), ' · '],
      h('a', { href: '/learn', onclick: ui.link }, speech.say('page.never_played'))),
    h('details', null, h('summary', null, h('span', { class: 'tick' }, '✓ '), sealed?.promise ?? speech.say('page.nobody_chooses')),
      h('p', null, sealed?.how ?? speech.say('page.nobody_chooses_how')))))
}

/** @param {Ui} ui */
function goneScreen(ui) {
  const { speech } = ui
  return h('main', { class: 'page', key: 'sit' }, h('section', { class: 'card sit' }, h('h1', null, speech.say('page.table_gone')), h('p', null, speech.say('page.table_gone_more')), wayOut(ui)))
}

/** Where there are other tables. @param {Ui} ui */
const wayOut = ({ speech, link }) => h('p', null, h('a', { class: 'b yes', href: '/', onclick: link }, h('b', null, speech.say('page.lobby'))))

/** The field for a name, asked once. @param {Ui} ui @param {string} button @param {(isNew: boolean) => void} then @param {boolean} [isFirst] whether it has the focus when it comes */
export function nameForm(ui, button, then, isFirst = false) {
  const { speech, state } = ui
  const known = state.vault?.name ?? ''
  return h('form', {
    async onsubmit(/** @type {any} */ event) {
      event.preventDefault()
      const name = event.currentTarget.elements.name.value.trim()
      const isNew = name !== '' && name !== known
      if (isNew) await rename(ui, name)
      then(isNew)
    }
  }, h('input', { name: 'name', class: 'name', maxlength: NAME_LETTERS, autocomplete: 'nickname', required: true, 'aria-label': speech.say('page.nickname'), placeholder: speech.say('page.nickname'), 'data-focus': isFirst, value: state.screen.name ?? known, oninput: (/** @type {any} */ event) => ui.put('name', event.currentTarget.value) }),
  h('button', { class: 'b yes' }, h('b', null, button)), h('p', { class: 'dim' }, h('small', null, speech.say(state.vault?.isRefused ? 'page.name_refused' : 'page.no_account'))))
}

/** A new name is a new login: the promise is kept when one can ask for something behind it. @param {Ui} ui @param {string} name */
export async function rename(ui, name) {
  ui.happen({ what: 'vault', name, isNew: false, isRefused: false })
  await ui.wish('name', { name })
}

/** In one go, behind the login if that is still on its way. @param {Ui} ui @param {string} code @param {boolean} isNew whether it is */
async function sit(ui, code, isNew) {
  if (!isNew) await ui.ready()
  ui.ask('join', { table: code })
  ui.ask('ready', { table: code }, { isQuiet: true })
}

/** @param {Ui} ui @param {string} code */
async function watch(ui, code) {
  await ui.ready()
  if (await ui.wish('watch', { table: code }) !== null) ui.go(`/w/${code}`)
}

/** What everybody may know of a table before a login. @param {Ui} ui @param {string} code */
async function look(ui, code) {
  if (`look ${code}` in ui.state.answers) return
  // asked once: the screen is drawn again for every change
  ui.state.answers[`look ${code}`] = true
  const found = await ui.find(code) ?? await seen(ui, code)
  ui.happen({ what: 'answered', name: `table ${code}`, answer: found })
}

/** The same where nobody could tell, as where `truc web` serves the page: by watching it; null if there is none. @param {Ui} ui @param {string} code */
async function seen(ui, code) {
  await ui.ready()
  if (ui.state.tables[code] !== undefined) return undefined     // it is shown when it comes
  const told = await ui.ask('watch', { table: code }, { isQuiet: true })
  if (told?.code === 'private_table') return UNSEEN
  if (told?.t !== 'ok') return null
  await ui.ask('unwatch', { table: code }, { isQuiet: true })
  await ui.wish('watch', { table: code })     // the table is shown when it comes
  return undefined
}

/** A time for a decision, or in the bank. @param {number} ms */
export const timeOf = (ms) => ms % 60000 === 0 ? `${ms / 60000} min` : `${ms / 1000} s`

/** The terms in short. @param {any} shown @param {Ui} ui */
function chips({ opts, options = {}, chips: given }, { speech }) {
  if (given !== undefined) return given
  const [decision, bank, , , , guests, , , spectators] = opts ?? []
  return [
    decision === 0 ? speech.say('screen.no_hurry') : bank > 0 ? speech.say('screen.pace_with_bank', { time: timeOf(decision), bank: timeOf(bank) }) : speech.say('screen.pace', { time: timeOf(decision) }),
    options.target && speech.say('screen.to_target', { target: options.target }),
    options.flor && speech.say(`page.flor_${options.flor}`),
    guests > 0 && speech.say('screen.guests_admitted'),
    spectators > 0 && speech.say('page.may_be_watched')
  ].filter(Boolean)
}
