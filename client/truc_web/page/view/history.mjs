// One's own matches: those kept here with what the checks have said, and those that the server still has.

import { h } from '../h.mjs'
import { download } from '../sharing.mjs'
import { fromHex } from '../../lib/bytes.mjs'
import { endOf, matchesOf, othersOf, whyFailed } from './lobby_model.mjs'
import { room } from './room.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {ReturnType<typeof matchesOf>[number]} Row */

/** @param {Ui} ui */
export function screen(ui) {
  const { state, speech } = ui
  ui.onceOffline('kept', 'history', () => look(ui))
  const { kept, played } = state.answers
  if (state.server !== null && 'matches' in state.server.caps) ui.once('played', '', () => more(ui))
  const rows = matchesOf(kept ?? [], played?.matches ?? [])
  return room(ui, 'history', speech.say('history_page.title'), h('section', { class: 'card' },
    rows.length === 0 ? h('p', { class: 'dim' }, speech.say(kept === undefined ? 'page.connecting' : 'history_page.none')) : h('ul', { class: 'rows past' }, rows.map((row) => line(ui, row))),
    played?.more && h('p', { class: 'more' }, h('button', { class: 'b', onclick: () => more(ui) }, h('b', null, speech.say('history_page.more'))))))
}

/** What is kept here. @param {Ui} ui */
async function look(ui) {
  ui.happen({ what: 'answered', name: 'kept', answer: (await ui.wish('matches'))?.kept ?? [] })
}

/** The next ones of the server. @param {Ui} ui */
async function more(ui) {
  /** @type {{ matches: any[] }} */
  const { matches } = ui.state.answers.played ?? { matches: [] }
  const last = matches.at(-1)
  const answer = await ui.ask('matches', last ? { after: fromHex(last.match) } : {})
  if (answer !== null) ui.happen({ what: 'answered', name: 'played', answer: { matches: [...matches, ...answer.matches], more: answer.more } })
}

/** @param {Ui} ui @param {Row} row */
function line(ui, row) {
  const { speech, link } = ui
  const { match, variant, when, kept } = row
  const date = new Date(when).toLocaleString(speech.catalogue.lang, { dateStyle: 'medium', timeStyle: 'short' })
  const game = ui.gameName(variant)
  const about = (/** @type {string} */ word) => `${word}: ${game}, ${othersOf(row).join(', ')}`
  const [see, save] = [speech.say('page.see_again'), speech.say(kept !== null && kept.failed !== null ? 'proof.save_evidence' : 'page.save_file')]
  return h('li', { key: match }, h('div', null, h('b', null, game), h('small', null, date)), h('span', { class: 'names' }, othersOf(row).join(', ')), verdict(ui, row),
    h('span', { class: 'deed' }, row.isFetchable && check(ui, row),
      kept && h('button', { class: 'b', 'aria-label': about(save), onclick: () => download(ui, match) }, h('b', null, save)),
      h('a', { class: 'b', href: `/m/${match}`, onclick: link, 'aria-label': about(see) }, h('b', null, see))))
}

/** @param {Ui} ui @param {Row} row */
function check(ui, row) {
  const { speech } = ui
  const isBusy = ui.state.screen.busy === row.match
  return h('button', { class: 'b yes', disabled: isBusy, onclick: () => fetched(ui, row) }, h('b', null, speech.say(isBusy ? 'history_page.checking' : 'history_page.check')))
}

/** @param {Ui} ui @param {Row} row */
async function fetched(ui, { match, names, seat, when }) {
  ui.put('busy', match)
  await ui.wish('fetch', { match, names, seat, ended: when })
  await look(ui)
  ui.put('busy', null)
}

/** Who won, and whether every check has passed. @param {Ui} ui @param {Row} row */
function verdict({ speech }, { kept, isOver, seat }) {
  if (kept === null) return h('span', { class: 'dim' }, speech.say(isOver ? 'history_page.unchecked' : 'history_page.open'))
  if (kept.failed !== null) return h('b', { class: 'cross' }, `✗ ${whyFailed(kept, speech)}`)
  const how = !kept.isOver ? 'history_page.open' : seat === null ? 'history_page.watched' : `lobby.${endOf(kept)}`
  return h('b', { class: 'tick' }, `✓ ${speech.say(how)}`)
}
