// The beginning: the first screen; and what the browser does for the page outside it.

import { catalogue, find, lang, linked, listen, own, settings, words, worker } from './first.mjs'
import { apply } from './settings.mjs'
import { Outside } from './outside.mjs'
import { Ui } from './ui.mjs'
import { keyPressed } from './keys.mjs'

apply(settings)
document.documentElement.lang = lang

const root = /** @type {Element} */ (document.querySelector('#app'))
const ui = new Ui(root, worker, {
  catalogue: await catalogue, own: await own, settings,
  find: (/** @type {string} */ code) => linked?.code === code ? linked.found : find(code),
  async load(/** @type {string} */ name) {
    document.documentElement.lang = name
    return words(name)
  }
})
const outside = new Outside(ui)
ui.outside = (/** @type {import('./effects.mjs').Effect} */ effect) => outside.bring(effect)
worker.onerror = (/** @type {any} */ event) => ui.happen({ what: 'line', state: 'stopped', code: 'internal', now: 0, msg: event.message })
listen((event) => ui.take(event))

addEventListener('popstate', () => ui.go(location.pathname, true))
addEventListener('keydown', (event) => keyPressed(ui, event))
addEventListener('online', () => ui.post({ do: 'awake' }))
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && ui.post({ do: 'awake' }))

// What somebody has typed, and pressed, while the modules were still coming, goes on in what is drawn in place of it.
const { field, isFocused } = { field: root.querySelector('input'), isFocused: root.contains(document.activeElement) }
if (field?.value) ui.put('name', field.value)
root.replaceChildren()
ui.drawNow()
const drawn = root.querySelector('input')
if (isFocused) drawn?.focus()
if (document.documentElement.dataset.pressed === 'yes') drawn?.form?.requestSubmit()
