// What need not wait for the other modules: the words, the table of the link, and the worker, which connects while they
// are still coming.

import { madeOnce } from './made_once.mjs'
import { languageOf, readSettings } from './settings.mjs'

const HERE = new URL('.', import.meta.url)

/** A file of words. @param {string} name @param {RequestPriority} [priority] */
export const words = async (name, priority) => (await fetch(new URL(`../words/${name}.json`, HERE), { priority })).json()

export const settings = readSettings()
export const lang = languageOf(settings)

/** What is said on the way to a seat: a part of the whole catalogue. */
export const seatWords = words(`${lang}-seat`)
/** All that is said, and the games' own words; they come behind what is needed for a seat. */
export const allWords = madeOnce(() => Promise.all([words(lang, 'low'), words('own', 'low')]))
seatWords.then(allWords).catch(() => {})     // whoever needs them asks again

/** Whether a program on the player's own machine serves the page and carries the frames (`truc web`). */
const isCarried = document.documentElement.dataset.carried === 'yes'

const [, kind, code = ''] = location.pathname.split('/')
const isLink = kind === 't' && code !== ''

/** The table of the link that led here; null where there is none. */
export const linked = isLink && !isCarried ? { code: code.toUpperCase(), found: find(code) } : null

/** What everybody may know of a table before a login; null where nobody can tell. @param {string} table */
export async function find(table) {
  if (isCarried) return null
  const answer = await fetch(`/t/${table}.json`).catch(() => null)
  return answer?.ok ? await answer.json() : null
}

const address = new URL('worker.mjs', HERE).href
// the page may make one address that is run as a script, and no other (tree.py, "Content-Security-Policy")
/** @type {any} */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('worker', { createScriptURL: (/** @type {string} */ url) => url === address ? url : '' })
export const worker = new Worker(policy?.createScriptURL(address) ?? address, { type: 'module' })

/** @type {any[]} */
const early = []     // what the worker has told before anybody listens
worker.onmessage = (/** @type {MessageEvent} */ { data }) => {
  early.push(data)
  if (data.what === 'up') begin()
}

function begin() {
  const invite = /[#&]invite=([\w-]+)/.exec(location.hash)?.[1] ?? null
  // only once it is up: what a worker is sent before it listens is lost
  worker.postMessage({ do: 'begin', invite, isCarried, asksName: linked !== null })
}

/** From now on one listens to the worker, and is told what it has told already. @param {(event: any) => void} take */
export function listen(take) {
  worker.onmessage = (/** @type {MessageEvent} */ { data }) => {
    if (data.what === 'up') begin()
    take(data)
  }
  early.splice(0).forEach(take)
}
