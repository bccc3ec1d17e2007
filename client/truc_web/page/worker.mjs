// What runs beside the page: the connection, the checks, the key. The page sends it wishes, and is told events: see
// session/session.mjs.

import { connectWeb } from '../lib/web_socket.mjs'
import { fromHex } from '../lib/bytes.mjs'
import { Session, fetched, givenOrNoLine } from './session/session.mjs'
import { NotKept, openVault } from './session/vault.mjs'

// only one tab at a time signs with the key
const LOCK = 'truc-key'
const OPEN_MS = 10_000
const page = /** @type {any} */ (globalThis)

/** @typedef {import('./session/vault.mjs').Vault} Vault */

/** @type {Session | null} */
let session = null
/** @type {Vault | null} */
let vault = null
/** Null where the browser keeps nothing, or does not answer. @type {Promise<Vault | null>} */
const opened = Promise.race([openVault(), new Promise((resolve) => setTimeout(resolve, OPEN_MS, null))]).catch(() => null)
let release = () => {}
let isSettled = () => {}
const settled = new Promise((resolve) => { isSettled = () => resolve(undefined) })     // this tab has a session, or another one has
/** Of the link that led here. @type {string | null} */
let invite = null
let isCarried = false
let asksName = false

/** @param {any} event */
const tell = (event) => page.postMessage(event)

/** Why this browser cannot have a key; null if it can. @returns {Promise<string | null>} */
async function whyGuest() {
  if (!globalThis.isSecureContext) return 'not_secure'
  try {
    for (const [name, uses] of /** @type {const} */ ([['Ed25519', ['sign', 'verify']], ['X25519', ['deriveBits']]])) {
      await crypto.subtle.generateKey(name, false, [...uses])
    }
  } catch {
    return 'old_browser'
  }
  return vault === null ? 'keeps_nothing' : null
}

/** @param {boolean} isTaking whether the other tab's session is to end */
async function begin(isTaking) {
  const why = await whyGuest()
  // another tab has taken the key
  let isLost = false
  const mayGoOn = () => !isLost
  if (navigator.locks === undefined) return visit(why, mayGoOn)
  // two tabs that sign different acts for one position would convict their player (C34; decision 22)
  const request = isTaking ? { steal: true } : { ifAvailable: true }
  navigator.locks.request(LOCK, request, async (lock) => {
    if (lock === null) {
      isSettled()
      return tell({ what: 'second' })
    }
    const held = new Promise((resolve) => { release = () => resolve(undefined) })
    // what the other tab has stored meanwhile
    await vault?.load()
    visit(why, mayGoOn)
    await held
  }).catch((fault) => {
    if (fault instanceof NotKept) throw fault
    isLost = true
    session?.end()
    session = null
    isSettled()
    tell({ what: 'second' })
  })
}

/** @param {string | null} why @param {() => boolean} mayGoOn whether the key is still this tab's */
async function visit(why, mayGoOn) {
  const local = isCarried ? await askCarrier() : null
  if (!mayGoOn()) return     // a session that begins now would sign beside the other tab's
  const url = `${location.origin.replace(/^http/, 'ws')}/ws`
  const server = local?.server ?? location.origin
  const connect = async () => {
    if (local === null) return connectWeb(url)
    const { binding } = await askCarrier() ?? local     // the server may show another certificate by now
    return connectWeb(url, binding && fromHex(binding))
  }
  /** @type {{ fingerprint?: string | null, revoked?: string[] }} */
  const { fingerprint = null, revoked = [] } = local ?? {}
  session = new Session({ connect, isFollowed: isCarried, server, invite, fingerprint, revoked: revoked.map((key) => fromHex(key)), vault, whyGuest: why, asksName, tell })
  isSettled()
  tell({ what: 'vault', name: vault?.name ?? null, isNew: !vault?.hasKey, why })
  await session.run()
}

// Where a program on the player's own machine serves the page and carries the frames (`truc web`), it says to whom.
async function askCarrier() {
  const answer = await fetch('/local.json').catch(() => null)
  return answer?.ok ? await answer.json() : null
}

/** What is wished of this tab itself, with what its answer says beside `ok`. @type {Record<string, (wish: any) => any>} */
const WISHES = {
  begin(wish) {
    ({ invite, isCarried, asksName } = wish)
    return begin(false)
  },
  take: () => begin(true),
  awake: () => session?.awake(),
  enter() {
    asksName = false
    return session?.logInNow()
  },
  async name({ name }) {
    await settled     // whoever is quick has pressed before: what is loaded then would be there in place of the name
    await vault?.rename(name)
    await session?.nameIs(name)
  },
  async matches() {
    const kept = await vault?.matches() ?? []
    return { kept: kept.map(({ file, known, story, rules, ...rest }) => ({ ...rest, bytes: file.length })) }
  },
  async file({ match }) {
    const kept = await vault?.match(match)
    return { file: kept?.file ?? null, known: kept?.known ?? null }
  },
  async story({ match }) {
    const kept = await vault?.match(match) ?? null
    if (kept === null) return { kept }
    const { file, known, ...shown } = kept
    return { kept: shown }
  },
  async verify({ match }) {
    const file = (await vault?.match(match))?.file
    const { verdictOn } = await fetched(import('./session/verdict.mjs'))
    return file === undefined ? { result: null } : verdictOn(file)
  },
  key: () => ({ text: vault?.text ?? null, isSaved: vault?.self.saved ?? false }),
  saved: () => vault?.saved(),
  async lock() {
    if (session?.met != null) await vault?.lock(session.met.pin)
  },
  async import({ text }) {
    if (!await vault?.take(text)) return { t: 'error', code: 'no_key_text', msg: '' }
    session?.comeBack()
  },
  async forget() {
    session?.end()
    await vault?.forget()
    release()
  }
}

/** @param {{ n?: number }} wish @param {any} message */
const answer = ({ n }, message) => { if (n !== undefined) tell({ what: 'reply', n, message }) }

// What was wished for could not be stored; or a mistake of this program: the page says so, and does not wait for ever.
page.onunhandledrejection = (/** @type {any} */ event) => {
  const isNotKept = event.reason instanceof NotKept
  if (isNotKept) {
    event.preventDefault()
    session?.end()
  } else {
    console.error(event.reason)
  }
  tell({ what: 'line', state: 'stopped', code: isNotKept ? 'no_room' : 'internal' })
}

page.onmessage = async (/** @type {{ data: any }} */ { data: wish }) => {
  vault ??= await opened
  const own = WISHES[wish.do]
  if (own !== undefined) answer(wish, { t: 'ok', ...await givenOrNoLine(() => own(wish)) })
  else if (session !== null) await session.grant(wish)
  else answer(wish, { t: 'error', code: 'no_line', msg: '' })
}

tell({ what: 'up' })     // what was sent before is lost
