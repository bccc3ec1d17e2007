// Who is best in a game, and where one stands oneself.

import { h } from '../h.mjs'
import { RATED_FROM, ownWay } from './lobby_side.mjs'
import { gameField, part, room } from './room.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../games.mjs').Way} Way */

/** @param {Ui} ui */
export function screen(ui) {
  const { state, speech } = ui
  const title = speech.say('best.title')
  const way = state.screen.way ?? ownWay(ui)
  if (state.me === null || way === null) return room(ui, 'best', title)
  ui.once('places', `${way.variant} ${way.seats}`, () => more(ui, way, []))
  ui.once('profile', state.me.tag, () => ui.fetch('profile', 'profile'))
  return room(ui, 'best', title, h('section', { class: 'card' }, gameField(ui, way, (to) => ui.put('way', to)), board(ui, way), h('p', { class: 'dim' }, speech.say('best.counted'))), own(ui))
}

/** @param {Ui} ui @param {Way} way @param {any[]} known */
async function more(ui, way, known) {
  const answer = await ui.ask('leaderboard', { ...way, ...(known.length > 0 && { from: known.length }) })
  if (answer !== null) ui.happen({ what: 'answered', name: 'places', answer: { way, standings: [...known, ...answer.standings], more: answer.more } })
}

/** @param {Ui} ui @param {Way} way */
function board(ui, way) {
  const { state, speech } = ui
  const { standings, more: isMore = false, way: of } = state.answers.places ?? { standings: [] }
  if (of?.variant !== way.variant || of.seats !== way.seats) return null
  if (standings.length === 0) return h('p', null, speech.say('best.nobody'))
  return [
    table(ui, 'best.name', standings.map((/** @type {any} */ place) => ({ ...place, head: [place.name, place.bot && h('small', null, speech.say('best.bot'))], isMine: place.player === state.me.tag }))),
    isMore && h('p', { class: 'more' }, h('button', { class: 'b', onclick: () => more(ui, way, standings) }, h('b', null, speech.say('best.more'))))
  ]
}

/** @param {Ui} ui */
function own(ui) {
  const { state, speech } = ui
  const standings = state.answers.profile?.standings ?? []
  if (standings.length === 0) return null
  return part(speech.say('best.own'), null, table(ui, 'new_table.which', standings.map((/** @type {any} */ place) => ({ ...place, head: [ui.gameName(place.variant), h('small', null, speech.say('page.for_players', { n: place.seats }))], isMine: false }))))
}

/** @param {Ui} ui @param {string} who what the second column has @param {any[]} places */
function table({ speech }, who, places) {
  const heads = ['best.place', who, 'best.rating', 'best.matches', 'best.won']
  const number = (/** @type {number} */ n) => n.toLocaleString(speech.catalogue.lang)
  return h('table', { class: 'places' }, h('thead', null, h('tr', null, heads.map((head) => h('th', { scope: 'col' }, speech.say(head))))),
    h('tbody', null, places.map(({ player, variant, seats, rank, head, points, matches, won, isMine }) => h('tr', { key: `${player} ${variant} ${seats}`, class: isMine ? 'mine' : null },
      h('td', null, rank), h('th', { scope: 'row' }, head), h('td', null, number(points + RATED_FROM)), h('td', null, number(matches)), h('td', null, number(won))))))
}
