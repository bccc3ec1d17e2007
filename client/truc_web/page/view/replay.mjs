// A match shown again, step by step: from what is kept here, else from the server.

import { h } from '../h.mjs'
import { copy, download } from '../sharing.mjs'
import { handFrom, stepFrom, storyOf, tableAfter } from '../state/story.mjs'
import { icon, shield } from './cards.mjs'
import { felt } from './felt.mjs'
import { capital } from '../words.mjs'
import { namesOf } from './model.mjs'
import { score } from './score.mjs'
import { side } from './side.mjs'

const PLAY_MS = 1100
/** How the badge stands, by the verdict. @type {Record<string, 'ok' | 'bad'>} */
const VERDICTS = { proven: 'ok', refuted: 'bad', unreadable: 'bad' }

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/story.mjs').Story} Story */
/** @typedef {import('../words.mjs').Speech} Speech */

/** @param {Ui} ui @param {string} match */
export function screen(ui, match) {
  const { state, speech } = ui
  const name = `story ${match}`
  const story = state.answers[name]
  if (story === undefined) {
    ui.onceOffline('story', match, async () => ui.happen({ what: 'answered', name, answer: await found(ui, match) }))
    return h('main', { class: 'page', key: 'replay' }, h('h1', { class: 'wait' }, speech.say('page.connecting')))
  }
  if (story === null) return none(ui)
  return shown(ui, story, speech.of(story.rules))
}

/** @param {Ui} ui */
function none({ speech, link }) {
  return h('main', { class: 'page', key: 'replay' }, h('section', { class: 'card sit' }, h('h1', null, speech.say('replay_page.none')), h('p', null, speech.say('replay_page.none_more')),
    h('p', null, h('a', { class: 'b yes', href: '/', onclick: link }, h('b', null, speech.say('page.lobby'))))))
}

// What is not kept here is fetched from the server first, and judged and kept like one's own.
/** @param {Ui} ui @param {string} match @returns {Promise<Story | null>} */
async function found(ui, match) {
  const story = await kept(ui, match)
  if (story !== null) return story
  await ui.ready()
  const answer = await ui.wish('fetch', { match, names: null, seat: null, ended: Date.now() }, { isQuiet: true })
  return answer.t === 'error' ? null : kept(ui, match)
}

/** @param {Ui} ui @param {string} match @returns {Promise<Story | null>} */
async function kept(ui, match) {
  const { kept: found } = await ui.wish('story', { match }, { isQuiet: true })
  if (!found) return null
  judge(ui, match)
  return storyOf({ ...found, means: found.story.map((/** @type {[number, any[]]} */ [, means]) => means) })
}

// What judges it may have to be fetched: while that cannot be, the badge says so, and asks again when it is pressed.
/** @param {Ui} ui @param {string} match */
async function judge(ui, match) {
  ui.happen({ what: 'answered', name: `verdict ${match}`, answer: await ui.wish('verify', { match }, { isQuiet: true }) })
}

/** Where one is: at the end of the address, so that a moment can be sent to others; else where the first cards are dealt. @param {Story} story */
function placeOf(story) {
  const at = Number(location.hash.slice(1))
  return Number.isInteger(at) && location.hash.length > 1 ? Math.max(0, Math.min(story.means.length, at)) : handFrom(story, 0, 1)
}

/** @param {Ui} ui @param {Story} story @param {Speech} speech */
function shown(ui, story, speech) {
  const at = ui.state.screen.at ?? placeOf(story)
  const table = tableAfter(story, at)
  return h('div', { class: 'app replay', key: 'replay' },
    h('header', { class: 'bar' }, h('a', { class: 'brand', href: '/', onclick: ui.link }, 'truc'),
      h('h1', null, ui.gameName(story.rules.variant), h('small', null, story.names.join(' · '))), h('span', { class: 'sp' }), verdict(ui, story),
      h('button', { class: 'ic', 'aria-label': speech.say('page.chat_and_record'), onclick: () => ui.put('side', true) }, icon('menu'))),
    score(ui, table, speech), felt(ui, table, speech), controls(ui, story, table, at, speech), side(ui, table, speech))
}

/** @param {Ui} ui @param {Story} story */
function verdict(ui, { match }) {
  const { state, speech } = ui
  const answer = state.answers[`verdict ${match}`]
  if (answer == null || answer.result === null) return null
  if (answer.t === 'error') {
    const why = `${capital(speech.refused(answer.code))}. ${speech.say('replay_page.judge')}`
    return h('button', { class: 'badge none', 'aria-label': why, title: why, onclick: () => judge(ui, match) }, shield('none'), h('span', null, speech.say('replay_page.unjudged')))
  }
  const text = speech.say(answer.result === 'proven' && answer.isUnseenByHost ? 'sealed.badge' : `replay_page.${answer.result}`)
  const how = VERDICTS[answer.result] ?? 'none'
  return h('span', { class: `badge ${how}`, role: 'img', 'aria-label': text, title: text }, shield(how), h('span', null, text))
}

/** @param {Ui} ui @param {number} at */
function goTo(ui, at) {
  // not a step of its own: the way back leads out of the match, not through it
  history.replaceState(null, '', `#${at}`)
  ui.put('at', at)
}

/** @param {Ui} ui @param {Story} story @param {import('../state/table.mjs').Table} table @param {number} at @param {Speech} speech */
function controls(ui, story, table, at, speech) {
  const names = namesOf(table, speech)
  const told = at === 0 ? [] : story.means[at - 1].filter((fact) => speech.textOf(fact) !== undefined).map((fact, i) => i === 0 ? speech.tellFirst(fact, names) : speech.tell(fact, names))
  const isPlaying = ui.state.screen.playing === true
  const button = (/** @type {string} */ label, /** @type {Parameters<typeof icon>[0]} */ sign, /** @type {() => void} */ press) => h('button', { class: 'b step', 'data-step': label, 'aria-label': speech.say(`replay_page.${label}`), onclick: press }, icon(sign))
  return h('section', { class: 'dock', 'aria-label': speech.say('replay_page.controls') },
    h('p', { class: 'ask', role: 'status' }, h('span', null, told.length > 0 ? `${told.join('; ')}.` : speech.say('replay_page.beginning'))),
    h('input', { type: 'range', class: 'slider', min: 0, max: story.means.length, value: at, 'aria-label': speech.say('replay_page.record'), oninput: (/** @type {any} */ event) => goTo(ui, Number(event.currentTarget.value)) }),
    h('div', { class: 'acts' },
      button('hand_before', 'first', () => goTo(ui, handFrom(story, at, -1))), button('before', 'before', () => goTo(ui, stepFrom(story, at, -1))),
      button(isPlaying ? 'pause' : 'play', isPlaying ? 'stop' : 'play', () => playOn(ui, story, !isPlaying)),
      button('after', 'after', () => goTo(ui, stepFrom(story, at, 1))), button('hand_after', 'last', () => goTo(ui, handFrom(story, at, 1))),
      h('button', { class: 'b', onclick: () => copy(ui, location.href) }, h('b', null, speech.say('replay_page.link'))),
      h('button', { class: 'b', onclick: () => download(ui, story.match) }, h('b', null, speech.say('page.save_file')))))
}

/** @param {Ui} ui @param {Story} story @param {boolean} isPlaying */
function playOn(ui, story, isPlaying) {
  ui.put('playing', isPlaying)
  if (!isPlaying) return
  const timer = setInterval(() => {
    const at = ui.state.screen.at ?? placeOf(story)
    const next = stepFrom(story, at, 1)
    if (ui.state.screen.playing !== true || next === at) {
      clearInterval(timer)
      if (ui.state.screen.playing === true) ui.put('playing', false)
    } else {
      goTo(ui, next)
    }
  }, PLAY_MS)
}
