// The beginning: the words, the worker, the first screen; and what the browser does for the page outside it.

import { apply, languageOf, readSettings } from './settings.mjs'
import { Outside } from './outside.mjs'
import { Ui } from './ui.mjs'
import { keyPressed } from './keys.mjs'

const HERE = new URL('.', import.meta.url)

/** A file of words. @param {string} name */
const words = async (name) => (await fetch(new URL(`../words/${name}.json`, HERE))).json()

const settings = readSettings()
apply(settings)
const lang = languageOf(settings)
document.documentElement.lang = lang
const [catalogue, own] = await Promise.all([words(lang), words('own')])

const address = new URL('worker.mjs', HERE).href
/** @type {any} */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('worker', { createScriptURL: (/** @type {string} */ url) => url === address ? url : '' })
const worker = new Worker(policy?.createScriptURL(address) ?? address, { type: 'module' })

worker.onerror = (/** @type {any} */ event) => ui.happen({ what: 'line', state: 'stopped', code: 'internal', now: 0, msg: event.message })

const root = /** @type {Element} */ (document.querySelector('#app'))
const ui = new Ui(root, worker, {
  catalogue, own, settings,
  async load(/** @type {string} */ name) {
    document.documentElement.lang = name
    return words(name)
  }
})
const outside = new Outside(ui)
ui.outside = (/** @type {import('./effects.mjs').Effect} */ effect) => outside.bring(effect)

addEventListener('popstate', () => ui.go(location.pathname, true))
addEventListener('keydown', (event) => keyPressed(ui, event))
addEventListener('online', () => ui.post({ do: 'awake' }))
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && ui.post({ do: 'awake' }))

ui.drawNow()
