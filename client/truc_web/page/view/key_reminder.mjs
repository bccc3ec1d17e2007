// Whether the key is saved, and the question whether it shall be, after the first match that was won.

import { h } from '../h.mjs'
import { endOf, overOf } from './lobby_model.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */

/** How the key is kept, asked of the worker; the text stays there. @param {Ui} ui */
export async function look(ui) {
  const { text, isSaved } = await ui.wish('key')
  ui.happen({ what: 'answered', name: 'key', answer: { isSaved, isHere: text !== null } })
}

/** Asked once, after the first match that was won: whether the key shall be saved. @param {Ui} ui */
export function keyReminder(ui) {
  const { state, speech, settings } = ui
  const hasWon = overOf(state.answers.kept ?? [], Infinity).some((kept) => endOf(kept) === 'won')
  if (!state.me.isKeyed || settings.isKeyAsked || !hasWon) return null
  ui.onceOffline('key', state.me.tag, () => look(ui))
  const { isSaved = true, isHere = false } = state.answers.key ?? {}
  if (isSaved || !isHere) return null
  const keep = () => {
    navigator.storage?.persist?.()     // so that the browser does not make room by forgetting
    ui.set('isKeyAsked', true)
    ui.go('/settings')
  }
  return h('section', { class: 'card back keep', key: 'keep' }, h('span', null, h('b', null, speech.say('key.keep')), ' ', speech.say('key.keep_more')),
    h('div', { class: 'go' }, h('button', { class: 'b yes', onclick: keep }, h('b', null, speech.say('key.keep_button'))), h('button', { class: 'b', onclick: () => ui.set('isKeyAsked', true) }, h('b', null, speech.say('key.later')))))
}
