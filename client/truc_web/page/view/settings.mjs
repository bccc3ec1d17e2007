// What a player can set on this device, the key, and the way out.

import { h } from '../h.mjs'
import { THEMES, erase } from '../settings.mjs'
import { keyPart } from './key.mjs'
import { languages } from './lobby.mjs'
import { choice, part, room } from './room.mjs'
import { nameForm } from './sit.mjs'

const TREE = /\/a\/([0-9a-f]+)\//.exec(import.meta.url)?.[1] ?? '–'
const KEYS = ['1 2 3', 'C', 'M', 'Esc']

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../settings.mjs').Settings} Settings */

/** @param {Ui} ui */
export function screen(ui) {
  const { speech } = ui
  return room(ui, 'settings', speech.say('page.settings'), h('div', { class: 'cols even' },
    h('div', null, you(ui), look(ui), notices(ui)),
    h('div', null, keyPart(ui), shortcuts(ui), about(ui), forget(ui))))
}

/** @param {Ui} ui */
const you = (ui) => part(ui.speech.say('settings.you'), null, nameForm(ui, ui.speech.say('settings.save'), () => {}),
  h('label', { class: 'field' }, h('span', null, ui.speech.say('lobby.language')), languages(ui)))

/** A thing that is on or off. @param {Ui} ui @param {keyof Settings} name @param {string} text */
const toggle = (ui, name, text) => h('label', { class: 'switch' },
  h('input', { type: 'checkbox', name, checked: ui.settings[name], onchange: (/** @type {any} */ event) => ui.set(name, event.currentTarget.checked) }), text)

/** @param {Ui} ui */
function look(ui) {
  const { speech, settings } = ui
  return part(speech.say('settings.look'), null,
    choice(speech.say('settings.theme'), THEMES.map((theme) => ({ value: theme, text: speech.say(`settings.theme_${theme}`) })), settings.theme, (theme) => ui.set('theme', theme)),
    toggle(ui, 'isFour', speech.say('settings.four')), toggle(ui, 'isLarge', speech.say('settings.large')),
    toggle(ui, 'isLoud', speech.say('page.sound')), toggle(ui, 'isStill', speech.say('settings.still')))
}

/** @param {Ui} ui */
function notices(ui) {
  const { speech, settings } = ui
  const permission = globalThis.Notification?.permission ?? 'denied'
  const isOn = settings.isNotified && permission === 'granted'
  return part(speech.say('settings.notifications'), null, h('p', { class: 'dim' }, speech.say('settings.notifications_more')),
    permission === 'denied' ? h('p', null, speech.say('settings.blocked'))
      : h('label', { class: 'switch' }, h('input', { type: 'checkbox', name: 'isNotified', checked: isOn, onchange: () => notify(ui, !isOn) }), speech.say('settings.notify')))
}

/** The browser asks only after a press. @param {Ui} ui @param {boolean} isWanted */
async function notify(ui, isWanted) {
  const permission = isWanted ? await Notification.requestPermission() : 'denied'
  ui.set('isNotified', permission === 'granted')
}

/** @param {Ui} ui */
const shortcuts = ({ speech }) => part(speech.say('settings.keyboard'), null,
  h('dl', { class: 'keys' }, KEYS.map((key, i) => [h('dt', null, key.split(' ').map((each) => [h('kbd', null, each), ' '])), h('dd', null, speech.say(`page.shortcut_${i}`))])))

/** @param {Ui} ui */
const about = ({ state, speech }) => part(speech.say('settings.about'), null,
  h('p', null, speech.say('settings.tree', { tree: TREE })), h('p', { class: 'dim' }, speech.say('settings.tree_more')), h('p', { class: 'dim' }, state.server?.software),
  h('p', null, h('a', { class: 'chip', href: '/status' }, speech.say('settings.status'))))

/** @param {Ui} ui */
const forget = (ui) => part(ui.speech.say('settings.forget'), null, h('p', { class: 'dim' }, ui.speech.say('settings.forget_more')),
  h('p', null, h('button', { class: 'b no', onclick: () => goAway(ui) }, h('b', null, ui.speech.say(ui.state.screen.sure === 'forget' ? 'page.sure' : 'settings.forget_button')))))

/** @param {Ui} ui */
async function goAway(ui) {
  if (ui.state.screen.sure !== 'forget') return ui.askSure('forget')
  const isKnown = 'forget' in (ui.state.server?.caps ?? {})
  if (isKnown && await ui.ask('forget') === null) return
  await ui.wish('forget', {}, { isQuiet: true })
  erase()
  location.assign('/')
}
