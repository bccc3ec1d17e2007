// What reaches a player beside the picture: the title, a tone, a notification, and one sentence for screen readers.

import { loadAll } from './route.mjs'
import { namesOf } from './view/model.mjs'
import { capital } from './words.mjs'

/** The tones: frequency in Hz and length in ms. @type {Record<string, [number, number][]>} */
const TONES = {
  turn: [[660, 90], [880, 140]], card: [[180, 40]], call: [[520, 70], [390, 120]], won: [[523, 110], [659, 110], [784, 220]], lost: [[392, 140], [311, 240]]
}
const VOLUME = 0.06
const IDLE_MS = 2000     // where the browser does not tell when it has nothing to do

/** @typedef {import('./ui.mjs').Ui} Ui */

export class Outside {
  /** @param {Ui} ui */
  constructor(ui) {
    this.ui = ui
    this.title = document.title
    /** @type {AudioContext | null} */
    this.audio = null
    this.polite = region('polite')
    this.urgent = region('assertive')
  }

  /** @param {import('./effects.mjs').Effect} effect */
  bring(effect) {
    const { speech, settings, state } = this.ui
    switch (effect.do) {
      case 'title':
        document.title = effect.n > 0 ? `(${effect.n}) ${capital(speech.say('page.your_turn'))} – truc` : this.title
        this.mark(effect.n > 0)
        if (effect.n === 0) this.urgent.textContent = ''     // so that the next turn is heard as another one
        return
      case 'back': return this.checkForNewer()
      case 'reload': return location.reload()
      case 'preload': return (globalThis.requestIdleCallback ?? ((/** @type {() => void} */ then) => setTimeout(then, IDLE_MS)))(loadAll)
      case 'sound': return settings.isLoud ? this.play(TONES[effect.name]) : undefined
      case 'announce': {
        const table = state.tables[effect.table]
        const own = speech.of(table.rules)
        const said = effect.facts.map((fact) => own.tellFirst(fact, namesOf(table, speech))).flatMap((text) => text ?? [])
        if (said.length > 0) this.polite.textContent = said.map((text) => `${text}.`).join(' ')
        return
      }
      case 'turn':
        this.urgent.textContent = `${capital(speech.say('page.your_turn'))}.`
        if (hasPressed()) navigator.vibrate?.(60)
        this.stayAwake()
        return
      case 'notify': return this.notify(effect.table)
    }
  }

  /** The sign of the tab has a dot. @param {boolean} isTurn */
  mark(isTurn) {
    const link = /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel=icon]'))
    if (link !== null) link.href = new URL(`look/${isTurn ? 'icon-turn' : 'icon'}.svg`, import.meta.url).href
  }

  // After a connection was lost the server may be another release, with another page.
  async checkForNewer() {
    const answer = await fetch('/', { cache: 'no-cache' }).catch(() => null)
    const found = answer?.ok ? /\/a\/(\w+)\/page\/start\.mjs/.exec(await answer.text()) : null
    if (found && !import.meta.url.includes(`/a/${found[1]}/`)) this.ui.happen({ what: 'stale' })
  }

  // While it is one's turn the screen does not go dark.
  async stayAwake() {
    if (this.lock !== null || document.visibilityState !== 'visible') return
    this.lock = await navigator.wakeLock?.request('screen').catch(() => null) ?? null
    this.lock?.addEventListener('release', () => { this.lock = null })
  }

  /** @type {WakeLockSentinel | null} */
  lock = null

  /** Only while the page is not seen. @param {string} table */
  notify(table) {
    const { settings, speech } = this.ui
    if (!settings.isNotified || document.visibilityState === 'visible' || globalThis.Notification?.permission !== 'granted') return
    const notice = new Notification(capital(speech.say('page.your_turn')), { body: speech.say('page.table_code', { code: table }), tag: table })
    notice.onclick = () => globalThis.focus()
  }

  /** @param {[number, number][]} tones */
  play(tones) {
    if (!hasPressed()) return
    try {
      const audio = this.audio ??= new AudioContext()
      if (audio.state !== 'running') audio.resume()
      let at = audio.currentTime
      for (const [frequency, ms] of tones) {
        const [tone, loudness] = [audio.createOscillator(), audio.createGain()]
        tone.frequency.value = frequency
        loudness.gain.setValueAtTime(VOLUME, at)
        loudness.gain.exponentialRampToValueAtTime(0.001, at + ms / 1000)
        tone.connect(loudness).connect(audio.destination)
        tone.start(at)
        tone.stop(at += ms / 1000)
      }
    } catch {
      // No sound here.
    }
  }
}

// Browsers allow neither sound nor shaking before somebody has pressed something.
const hasPressed = () => navigator.userActivation?.hasBeenActive ?? true

/** @param {'polite' | 'assertive'} how */
function region(how) {
  const made = document.createElement('p')
  made.className = 'heard'
  made.setAttribute('aria-live', how)
  document.body.append(made)
  return made
}
