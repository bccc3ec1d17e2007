// Beside the tables: the talk of the house, who is best in one's game, one's own matches, and the key that is not saved yet.

import { h } from '../h.mjs'
import { familiesOf, familyOf, wayOf } from '../games.mjs'
import { endOf, othersOf, overOf, whyFailed } from './lobby_model.mjs'
import { part } from './room.mjs'

const MOST_LINES = 50
const MOST_PLACES = 5
const MOST_MATCHES = 4
export const RATED_FROM = 1000     // what is shown of 0 points, as `truc` does

/** @typedef {import('../ui.mjs').Ui} Ui */

/** @param {Ui} ui */
export const lobbySide = (ui) => [best(ui), matches(ui), chat(ui)]

/** The game that is played here most: the last one. @param {Ui} ui @returns {import('../games.mjs').Way | null} */
export function ownWay({ state, settings, speech }) {
  const [first] = familiesOf(state.server?.variants ?? [], { tongue: speech.catalogue.lang, last: settings.last })
  return first === undefined ? null : wayOf(first, settings.ways[first.name] ?? null)
}

/** From now on it is this one. @param {Ui} ui @param {import('../games.mjs').Way} way */
export function remember(ui, way) {
  const family = familyOf(way.variant)
  ui.set('last', family)
  ui.set('ways', { ...ui.settings.ways, [family]: way })
}

/** How many matches have been kept since the page was opened. @param {Ui} ui */
const ended = ({ state }) => Object.values(state.tables).filter((table) => table.ended !== null).map(({ match }) => match).join(' ')

/** @param {Ui} ui */
function best(ui) {
  const { state, speech, link } = ui
  const way = ownWay(ui)
  if (!('ratings' in state.server.caps) || way === null) return null
  ui.once('board', `${way.variant} ${way.seats} ${ended(ui)}`, () => ui.fetch('board', 'leaderboard', way))
  const places = state.answers.board?.standings ?? []
  if (places.length === 0) return null
  const mine = places.find((/** @type {any} */ { player }) => player === state.me.tag)
  const shown = [...places.slice(0, MOST_PLACES), ...(mine && !places.slice(0, MOST_PLACES).includes(mine) ? [mine] : [])]
  return part(speech.say('lobby.best'), h('a', { class: 'chip', href: '/best', onclick: link }, speech.say('lobby.everything')),
    h('p', { class: 'dim' }, ui.gameName(way.variant)),
    h('ol', { class: 'st' }, shown.map(({ rank, name, points, player }) => h('li', { key: player }, h('span', null, `${rank} ${player === state.me.tag ? speech.say('page.you') : name}`), h('b', null, (points + RATED_FROM).toLocaleString(speech.catalogue.lang))))))
}

/** @param {Ui} ui */
function matches(ui) {
  const { speech, link } = ui
  ui.once('kept', ended(ui), async () => ui.happen({ what: 'answered', name: 'kept', answer: (await ui.wish('matches'))?.kept ?? [] }))
  const shown = overOf(ui.state.answers.kept ?? [], MOST_MATCHES)
  if (shown.length === 0) return null
  return part(speech.say('lobby.your_matches'), h('a', { class: 'chip', href: '/history', onclick: link }, speech.say('lobby.everything')),
    h('ul', { class: 'st' }, shown.map((kept) => h('li', { key: kept.match }, h('span', null, othersOf(kept).join(', ')), verdict(ui, kept)))))
}

/** What the checks here have said of a match, and who won. @param {Ui} ui @param {any} kept */
export function verdict({ speech }, kept) {
  const how = speech.say(`lobby.${endOf(kept)}`)
  return kept.failed === null ? h('b', { class: 'tick' }, `✓ ${how}`) : h('b', { class: 'cross', title: whyFailed(kept, speech) }, `✗ ${speech.say('proof.stopped')}`)
}

/** @param {Ui} ui */
function chat(ui) {
  const { state, speech } = ui
  if (!state.server.caps.chat?.lobby) return null
  const lines = state.chat.slice(-MOST_LINES)
  return part(speech.say('page.chat'), null,
    h('div', { class: 'talk newest', role: 'group', tabindex: 0, 'aria-label': speech.say('page.chat') }, h('ol', null, lines.length === 0 ? h('li', { class: 'dim' }, speech.say('lobby.quiet')) : lines.map(({ name, text }) => h('li', null, h('b', null, name), ' ', text)))),
    h('form', { class: 'send', onsubmit: (/** @type {any} */ event) => ui.sendChat(event) },
      h('input', { name: 'text', maxlength: state.server.caps.chat.chars ?? 200, autocomplete: 'off', 'aria-label': speech.say('page.message'), placeholder: speech.say('page.say_something') }),
      h('button', { class: 'b' }, h('b', null, speech.say('lobby.send')))))
}
