// The beginning: the first screen; and what the browser does for the page outside it.

import { find, lang, linked, listen, seatWords, settings, words, worker } from './first.mjs'
import { apply } from './settings.mjs'
import { Ui } from './ui.mjs'

apply(settings)
document.documentElement.lang = lang

const root = /** @type {Element} */ (document.querySelector('#app'))
const { games, ...catalogue } = await seatWords
const ui = new Ui(root, worker, {
  catalogue, own: { games, sets: {} }, settings,
  find: (/** @type {string} */ code) => linked?.code === code ? linked.found : find(code),
  async load(/** @type {string} */ name) {
    document.documentElement.lang = name
    return words(name)
  },
  async rest(/** @type {Ui} */ given) {
    const { complete } = await import('./rest.mjs')
    await complete(given)
  }
})
worker.onerror = (/** @type {any} */ event) => ui.happen({ what: 'line', state: 'stopped', code: 'internal', now: 0, msg: event.message })
listen((event) => ui.take(event))

addEventListener('popstate', () => ui.go(location.pathname, true))
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
ui.loadRest().catch(() => {})     // asked for again by the screen that needs it
