// What a screen may do: read the state, and wish something of the worker or of the browser. One object for all screens;
// what follows from an event is drawn in one go before the next frame.

import { madeOnce } from './made_once.mjs'
import { show } from './h.mjs'
import { effects } from './effects.mjs'
import { screenOf } from './route.mjs'
import { FIRST, reduce } from './state/state.mjs'
import { ARMED } from './state/slots.mjs'
import { askedIn, awaited, untilOf } from './state/table.mjs'
import { Speech } from './words.mjs'

const HOLD_SURE_MS = 4000
const TOAST_MS = 6000
const TICK_MS = 250
const BEHIND_MS = 30     // two frames
const LATE_S = 5
const READY_MS = 20
const MINUTE_S = 60
const READ_MS = 6000
const MOST_SEEN = 9

/** @typedef {import('./state/table.mjs').Table} Table */
/** @typedef {import('./settings.mjs').Settings} Settings */

export class Ui {
  /**
   * @param {Element} root
   * @param {Worker} worker
   * @param {{ catalogue: any, own: { sets: any, games: Record<string, string> }, settings: Settings, find: (code: string) => Promise<any>, load: (lang: string) => Promise<any>, rest: (ui: Ui) => Promise<void> }} given
   */
  constructor(root, worker, { catalogue, own, settings, find, load, rest }) {
    this.root = root
    this.worker = worker
    this.load = load
    /** Kept once there is what the way to a seat does without. */
    this.loadRest = madeOnce(() => rest(this))
    this.own = own
    this.settings = settings
    this.find = find
    this.speech = new Speech(catalogue, own.sets)
    this.state = { ...FIRST, path: location.pathname }
    /** @type {any[]} */
    this.drawn = []
    this.isDue = false
    this.wishes = 0
    this.isUp = false
    /** @type {any[]} */
    this.early = []
    /** @type {Map<number, (message: any) => void>} */
    this.waiting = new Map()
    setInterval(() => this.tick(), TICK_MS)
  }

  /** To the worker, once it hears: what is said to it before that is lost. @param {any} wish */
  post(wish) {
    if (this.isUp) this.worker.postMessage(wish)
    else this.early.push(wish)
  }

  /** @param {any} event */
  take(event) {
    if (event.what === 'up') return this.hasBegun()
    if (event.what === 'reply') return this.settle(event)
    this.happen({ ...event, now: performance.now() })
  }

  hasBegun() {
    this.isUp = true
    for (const wish of this.early.splice(0)) this.post(wish)
  }

  /** @param {any} event */
  happen(event) {
    const before = this.state
    this.state = reduce(before, event)
    if (this.state === before) return
    this.draw()
    const isSeen = document.visibilityState === 'visible'
    for (const effect of effects(before, this.state)) {
      // behind the frame, which nobody has to wait for; but two sentences told in one go would be heard as one
      if (isSeen && effect.do !== 'announce') setTimeout(() => this.bring(effect), BEHIND_MS)
      else this.bring(effect)
    }
  }

  draw() {
    if (this.isDue) return
    this.isDue = true
    // a hidden page has no frames, but its title and its live regions are heard all the same
    const soon = document.visibilityState === 'visible' ? requestAnimationFrame : queueMicrotask
    soon(() => {
      this.isDue = false
      this.drawNow()
    })
  }

  drawNow() {
    const before = document.activeElement
    this.drawn = show(this.root, this.drawn, this.drawings?.sprite, screenOf(this), toasts(this))
    this.keepFocus(before)
  }

  // Into a dialog that has opened, and back to where it was. A screen may ask for the focus when it is first drawn.
  /** @param {Element | null} before */
  keepFocus(before) {
    const wanted = /** @type {HTMLElement | null} */ (this.root.querySelector('[data-focus]'))
    if (wanted !== this.wanted) {
      this.wanted = wanted
      wanted?.focus()
    }
    const dialog = /** @type {HTMLElement | null} */ (this.root.querySelector('[data-dialog]'))
    const name = dialog?.dataset.dialog ?? null
    if (name === this.dialog) return
    if (name !== null && this.dialog === null) this.returnTo = before
    this.dialog = name
    if (dialog !== null) /** @type {HTMLElement | null} */ (dialog.querySelector('button, input, a'))?.focus()
    else if (this.returnTo?.isConnected) /** @type {HTMLElement} */ (this.returnTo).focus()
  }

  /** @type {HTMLElement | null} */
  wanted = null
  /** @type {string | null} */
  dialog = null
  /** @type {Element | null} */
  returnTo = null

  /** Clocks run, toasts go. */
  tick() {
    const now = performance.now()
    for (const { id } of this.state.toasts) if (now - id > TOAST_MS) this.happen({ what: 'untoast', id })
    const table = this.tableHere
    const ticked = table === null ? '' : `${this.isEndOpen(table)} ${Object.values(this.clockOf(table) ?? {})}`
    if (ticked !== this.ticked) this.draw()
    this.ticked = ticked
  }

  /** What of the table hangs on the time, as it was last. */
  ticked = ''

  // The next hand may be dealt at once, and the time of whoever leads it runs: the sheet of the one before lies over it only
  // as long as it takes to read, a third of that time at most.
  /** Whether the end of the newest hand is shown. @param {Table} table */
  isEndOpen({ match, closed, closedAt, view, shown }) {
    if (closed === null || this.settings.seen.includes(`${match} ${closed.j}`)) return false
    const [decision = 0] = shown?.opts ?? []
    return view.phase !== 'hand' || performance.now() - closedAt < (decision === 0 ? READ_MS : Math.min(READ_MS, decision / 3))
  }

  /** Until another hand is over, wherever the reader goes meanwhile. @param {Table} table */
  dismissEnd({ match, closed }) {
    if (closed !== null) this.set('seen', [`${match} ${closed.j}`, ...this.settings.seen].slice(0, MOST_SEEN))
  }

  /** The table of this address. @returns {Table | null} */
  get tableHere() {
    const [, kind, code] = this.state.path.split('/')
    return ['t', 'w'].includes(kind) ? this.state.tables[code?.toUpperCase()] ?? null : null
  }

  /**
   * A request as docs/protocol has it; the promise is kept with `ok`, and with null where it was refused, which is said.
   *
   * @param {string} t
   * @param {object} [fields]
   * @param {{ isQuiet?: boolean }} [how]
   * @returns {Promise<any>}
   */
  ask(t, fields = {}, how = {}) {
    return this.wish('ask', { t, fields }, how)
  }

  /** @param {string} what @param {object} [more] @param {{ isQuiet?: boolean }} [how] @returns {Promise<any>} */
  wish(what, more = {}, { isQuiet = false } = {}) {
    const n = this.wishes++
    this.post({ do: what, n, ...more })
    return new Promise((resolve) => this.waiting.set(n, (message) => {
      if (message.t === 'error' && !isQuiet) this.toast(this.speech.refused(message.code))
      resolve(message.t === 'error' ? (isQuiet ? message : null) : message)
    }))
  }

  /** @param {any} reply */
  settle({ n, message }) {
    this.waiting.get(n)?.(message)
    this.waiting.delete(n)
  }

  /** Ask for something, and remember the answer by a name. @param {string} name @param {string} t @param {object} [fields] */
  async fetch(name, t, fields) {
    const answer = await this.ask(t, fields, { isQuiet: true })
    this.happen({ what: 'answered', name, answer })
    return answer
  }

  /** What a screen asks for when it is first shown, and again when it is about something else. */
  /** @param {string} name @param {string} about @param {() => unknown} ask */
  once(name, about, ask) {
    if (this.state.line.state === 'ready') this.onceOffline(name, about, ask)
  }

  /** The same of what needs no connection. @param {string} name @param {string} about @param {() => void} ask */
  onceOffline(name, about, ask) {
    if (this.asked.get(name) === about) return
    this.asked.set(name, about)
    ask()
  }

  /** @type {Map<string, string>} */
  asked = new Map()


  /** What a screen has open or typed. @param {string} name @param {any} value */
  put(name, value) {
    this.happen({ what: 'screen', name, value })
  }

  /** @param {string} text */
  toast(text) {
    this.happen({ what: 'toast', text, now: performance.now() })
  }

  /** @param {string} path @param {boolean} [isInstead] whether it takes the place of the address before it */
  go(path, isInstead = false) {
    if (isInstead) history.replaceState(null, '', path)
    else if (path !== location.pathname) history.pushState(null, '', path)
    if (!path.startsWith('/t/')) this.post({ do: 'enter' })
    this.happen({ what: 'path', path })
  }

  /** A link inside the page. */
  link = (/** @type {any} */ event) => {
    // the browser's own ways to open a link elsewhere
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    this.go(event.currentTarget.getAttribute('href'))
  }

  /** @param {keyof Settings} name @param {any} value */
  async set(name, value) {
    this.settings = this.settings.with(name, value)
    if (name === 'lang') this.speech = new Speech(await this.load(value), this.own.sets)
    this.draw()
  }

  /** The name of a game, in its own tongue. @param {string} variant */
  gameName = (variant) => this.own.games[variant] ?? variant

  /** Kept once the server can be asked. @returns {Promise<void>} */
  async ready() {
    this.post({ do: 'enter' })
    while (this.state.line.state !== 'ready') await new Promise((resolve) => setTimeout(resolve, READY_MS))
  }

  /** How cards are drawn; null as long as that is not there. @type {typeof import('./view/cards.mjs') | null} */
  drawings = null
  /** What is said of a table whose host sees no card; null likewise. @type {typeof import('./view/sealed.mjs').sealedTerms | null} */
  sealedTerms = null

  /** What was drawn may be older than the state: a choice is one of the options on offer now, and only one is made. */
  /** @param {Table} drawn @param {any} option */
  async choose(drawn, option) {
    const table = this.state.tables[drawn.code]
    const { options = null } = table ?? {}
    if (options === null || table.chosen !== null || options.at !== drawn.options?.at) return
    this.happen({ what: 'chose', table: table.code, at: options.at, key: option.key })
    this.happen({ what: 'screen', name: 'chooser', value: null })
    this.happen({ what: 'screen', name: 'armed', value: null })
    const answer = await this.wish('choose', { table: table.code, at: options.at, key: option.key }, { isQuiet: true })
    if (answer?.t === 'error') this.happen({ what: 'chose', table: table.code, at: options.at, key: null })
    if (answer?.code === 'stale_position') this.toast(this.speech.say('screen.overtaken'))
  }

  /** A slot is pressed: its one move is played, one of several is chosen first, or a card has to follow. */
  /** @param {Table} table @param {{ id: string, options: any[] }} slot */
  press(table, { id, options }) {
    if (ARMED.includes(id)) return this.put('armed', this.state.screen.armed === id ? null : id)
    if (options.length > 1) return this.put('chooser', id)
    if (id === 'concede' && this.state.screen.sure !== id && !this.isSureToConcede(table)) return this.askSure(id)
    this.put('sure', null)
    if (options.length === 1) this.choose(table, options[0])
  }

  // Where giving up is an answer like any other nobody has to be asked twice.
  /** @param {Table} table */
  isSureToConcede(table) {
    return askedIn(table.hand) !== null
  }

  /** @param {string} what */
  askSure(what) {
    this.put('sure', what)
    this.happen({ what: 'toast', about: 'sure', text: this.speech.say('page.sure'), now: performance.now() })
    setTimeout(() => this.state.screen.sure === what && this.put('sure', null), HOLD_SURE_MS)
  }

  /** @param {Table} table */
  resign(table) {
    if (this.state.screen.sure !== 'resign') return this.askSure('resign')
    this.put('sheet', null)
    this.interrupt(table, 'resign')
  }

  /** @param {Table} table @param {'pause' | 'resume' | 'resign'} kind */
  interrupt(table, kind) {
    this.put('sheet', null)
    this.post({ do: 'interrupt', table: table.code, kind })
  }

  /** @param {Table} table @param {string} word @param {number} to whom */
  sign(table, word, to) {
    this.put('sheet', null)
    this.post({ do: 'sign', table: table.code, word, to })
  }

  /** @param {Table} table @param {string} phrase */
  sayPhrase(table, phrase) {
    this.put('sheet', null)
    this.ask('say', { table: table.code, phrase })
  }

  /** @param {any} event @param {string} [table] */
  async sendChat(event, table) {
    event.preventDefault()
    const form = event.currentTarget
    const text = form.elements.text.value.trim()
    if (text === '') return
    if (await this.ask('chat', { text, ...(table && { table }) })) form.reset()
  }

  /** What is said at a table, where one writes at once. @param {Table} table */
  openSide(table) {
    this.wanted = null     // the field gets the focus again where it stands open already
    this.put('tab', 'table')
    this.put('side', true)
    this.happen({ what: 'read', table: table.code })
    this.draw()
  }

  /** @param {Table} table */
  async leave(table) {
    await this.ask(table.seat === null ? 'unwatch' : 'leave', { table: table.code }, { isQuiet: true })
    this.go('/')
  }

  /** What is left of the time of whoever decides, in hundredths of the time for a decision. @param {Table} table */
  leftOf(table) {
    const until = untilOf(table)
    const [decision = 0] = table.shown?.opts ?? []
    if (until === null || decision === 0) return null
    return Math.max(0, Math.min(100, Math.round(100 * (until - performance.now()) / decision)))
  }

  /** @param {Table} table */
  clockOf(table) {
    const until = untilOf(table)
    if (until === null || awaited(table).length === 0) return null
    const seconds = Math.max(0, Math.ceil((until - performance.now()) / 1000))
    const text = `${Math.floor(seconds / MINUTE_S)}:${String(seconds % MINUTE_S).padStart(2, '0')}`
    return { left: this.leftOf(table) ?? 100, text, isLate: seconds <= LATE_S }
  }

  /** What follows from a change. @param {import('./effects.mjs').Effect} effect */
  bring(effect) {
    if (this.outside === null) this.unbrought.push(effect)
    else this.outside(effect)
  }

  /** What followed before there was anything to bring it about. @type {import('./effects.mjs').Effect[]} */
  unbrought = []
  /** Sound, title and notifications; set by rest.mjs. @type {((effect: import('./effects.mjs').Effect) => void) | null} */
  outside = null
}

/** @param {Ui} ui */
const toasts = ({ state }) => ({
  name: 'div', key: 'toasts', props: { class: 'toasts', role: 'status' },
  children: state.toasts.map(({ id, text }) => ({ name: 'p', key: String(id), props: {}, children: [{ text }] }))
})
