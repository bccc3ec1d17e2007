// What takes the whole page instead of its screen: another tab plays, or there is nothing to come back for.

import { h } from '../h.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */

const FINAL = ['forgotten']
/** What more there is to say of a reason. @type {Record<string, string>} */
const MORE = { server_not_proved: 'page.not_proved_more', no_room: 'page.no_room_more' }

/** @param {Ui} ui */
export function noticeScreen({ state, speech, worker }) {
  const { line, isSecond } = state
  if (isSecond) {
    return notice(speech.say('page.second_tab'), speech.say('page.second_tab_more'), speech.say('page.play_here'), () => worker.postMessage({ do: 'take' }))
  }
  if (line.state !== 'stopped') return null
  const text = speech.refused(line.code ?? '')
  const more = MORE[line.code ?? '']
  return notice(text, more === undefined ? '' : speech.say(more), FINAL.includes(line.code ?? '') ? null : speech.say('page.try_again'), () => location.reload())
}

/** @param {string} title @param {string} more @param {string | null} button @param {() => void} press */
const notice = (title, more, button, press) => h('main', { class: 'page', key: 'notice' }, h('section', { class: 'card sit', role: 'alert' },
  h('h1', null, title), more !== '' && h('p', null, more), button !== null && h('p', null, h('button', { class: 'b yes', onclick: press }, h('b', null, button)))))
