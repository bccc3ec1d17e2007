// What takes the whole page instead of its screen: another tab plays, the server is elsewhere, or there is nothing to come
// back for.

import { h } from '../h.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */

const FINAL = ['forgotten']
/** What more there is to say of a reason. @type {Record<string, string>} */
const MORE = { server_not_proved: 'page.not_proved_more', no_room: 'page.no_room_more' }
/** The screens that show what is kept in this browser. */
const OWN = ['settings', 'history', 'm']

/** @param {Ui} ui */
export function noticeScreen({ state, speech, worker, link }) {
  const { line, isSecond, path } = state
  if (isSecond) {
    return notice(speech.say('page.second_tab'), speech.say('page.second_tab_more'), button(speech.say('page.play_here'), () => worker.postMessage({ do: 'take' })))
  }
  if (line.state === 'stopped') {
    const more = MORE[line.code ?? '']
    const again = button(speech.say('page.try_again'), () => location.reload())
    return notice(speech.refused(line.code ?? ''), more === undefined ? '' : speech.say(more), FINAL.includes(line.code ?? '') ? null : again)
  }
  if (line.movedTo === null || OWN.includes(path.split('/')[1])) return null
  return notice(speech.say('page.moved'), speech.say('page.moved_more', { to: line.movedTo }),
    h('a', { class: 'b yes', href: '/settings', onclick: link }, h('b', null, speech.say('key.title'))))
}

/** @param {string} word @param {() => void} press */
const button = (word, press) => h('button', { class: 'b yes', onclick: press }, h('b', null, word))

/** @param {string} title @param {string} more @param {any} deed */
const notice = (title, more, deed) => h('main', { class: 'page', key: 'notice' }, h('section', { class: 'card sit', role: 'alert' },
  h('h1', null, title), more !== '' && h('p', null, more), deed !== null && h('p', null, deed)))
