// The player's key: what it is, how it is kept, locked, brought from elsewhere. Its text is in the page only while it is shown.

import { h } from '../h.mjs'
import { saveFile } from '../sharing.mjs'
import { look } from './key_reminder.mjs'
import { qr } from './qr_code.mjs'
import { part } from './room.mjs'

const FILE = 'truc-key.txt'

/** @typedef {import('../ui.mjs').Ui} Ui */

/** @param {Ui} ui */
export function keyPart(ui) {
  const { state, speech } = ui
  const { vault, server, line } = state
  // a server that has moved lets nobody in, and the key is here all the same
  const me = state.me ?? (line.movedTo !== null && vault !== null && !vault.isNew ? { isKeyed: true, tag: '' } : null)
  if (me === null) return null
  const title = speech.say('key.title')
  if (!me.isKeyed) return part(title, null, h('p', null, speech.say('key.guest', { why: speech.refused(me.why ?? '') })), server.web && server.web !== location.origin && h('p', null, speech.say('key.guest_address', { address: server.web })))
  ui.onceOffline('key', me.tag, () => look(ui))
  const { isSaved = false, isHere = false } = state.answers.key ?? {}
  return h('section', { class: 'card key', key: 'key', id: 'key' }, h('h2', null, title), h('p', null, speech.say('key.about')), isHere && h('p', { class: 'dim' }, speech.say('key.forgets')),
    state.answers.key === undefined ? null : isHere ? open(ui, isSaved) : h('p', null, speech.say('key.locked')), other(ui, isHere && !isSaved),
    me.tag !== '' && h('p', { class: 'dim' }, h('small', { class: 'tag' }, speech.say('key.tag', { tag: me.tag }))))
}

/** A key whose text can be had. @param {Ui} ui @param {boolean} isSaved */
function open(ui, isSaved) {
  const { speech, state } = ui
  const text = state.screen.keyText ?? null
  const button = (/** @type {string} */ name, /** @type {() => unknown} */ press, colour = '') => h('button', { class: `b ${colour}`, key: name, onclick: press }, h('b', null, speech.say(`key.${name}`)))
  return [
    isSaved && h('p', { class: 'tick' }, '✓ ', speech.say('key.saved')),
    h('div', { class: 'go' }, button('file', () => save(ui), isSaved ? '' : 'yes'), button('print', () => print(ui)), text === null ? button('show', () => show(ui)) : button('hide', () => ui.put('keyText', null))),
    text !== null && h('div', { class: 'shown-key' }, h('p', null, speech.say('key.secret')), h('pre', { tabindex: 0 }, text), qr(text, speech.say('key.qr')),
      !isSaved && h('div', { class: 'go' }, button('done', () => saved(ui), 'yes'))),
    isSaved && [h('p', { class: 'dim' }, speech.say('key.lock_more')), h('div', { class: 'go' }, h('button', { class: 'b', key: 'lock', onclick: () => lock(ui) }, h('b', null, speech.say(state.screen.sure === 'lock' ? 'page.sure' : 'key.lock'))))]
  ]
}

/** Another key in its place. @param {Ui} ui @param {boolean} isLost whether the one that is here would be lost */
function other(ui, isLost) {
  const { speech, state } = ui
  const isSure = state.screen.sure === 'take'
  return h('details', { class: 'further' }, h('summary', null, speech.say('key.take')), h('p', { class: 'dim' }, speech.say('key.take_more')),
    h('form', { onsubmit: (/** @type {any} */ event) => take(ui, event, isLost) },
      h('label', { class: 'field' }, h('span', null, speech.say('key.text')), h('textarea', { name: 'key', rows: 3, required: true, spellcheck: 'false', autocomplete: 'off' })),
      isSure && h('p', { role: 'alert' }, speech.say('key.sure_unsaved')),
      h('div', { class: 'go' }, h('button', { class: `b ${isSure ? 'no' : ''}` }, h('b', null, speech.say('key.take_button'))))))
}

/** @param {Ui} ui */
async function saved(ui) {
  ui.worker.postMessage({ do: 'saved' })
  await look(ui)
}

/** @param {Ui} ui */
async function save(ui) {
  const { text } = await ui.wish('key')
  saveFile(text, FILE)
  await saved(ui)
}

/** @param {Ui} ui */
async function show(ui) {
  ui.put('keyText', (await ui.wish('key')).text)
}

/** @param {Ui} ui */
async function print(ui) {
  await show(ui)
  requestAnimationFrame(() => globalThis.print())
}

/** @param {Ui} ui */
async function lock(ui) {
  if (ui.state.screen.sure !== 'lock') return ui.askSure('lock')
  ui.put('keyText', null)
  await ui.wish('lock')
  await look(ui)
}

/** @param {Ui} ui @param {any} event @param {boolean} isLost */
async function take(ui, event, isLost) {
  event.preventDefault()
  const form = event.currentTarget
  if (isLost && ui.state.screen.sure !== 'take') return ui.put('sure', 'take')
  ui.put('sure', null)
  if (await ui.wish('import', { text: form.elements.key.value }) === null) return
  form.reset()
  ui.put('keyText', null)
  ui.toast(ui.speech.say('key.taken'))
  await look(ui)
}
