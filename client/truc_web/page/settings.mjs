// What a player has set on this device: language, sound, looks. Nothing of it leaves the browser.

const NAME = 'truc-settings'
export const LANGUAGES = ['en', 'ca', 'es', 'fr', 'pt']
/** @type {Record<string, string>} */
export const NAMES_OF_LANGUAGES = { en: 'English', ca: 'Català', es: 'Castellano', fr: 'Français', pt: 'Português' }
export const THEMES = ['auto', 'light', 'dark']

const DEFAULTS = {
  /** @type {string | null} */
  lang: null,
  isLoud: true,
  theme: 'auto',
  isFour: false,       // the French pack in four colours
  isLarge: false,
  isStill: false,      // nothing moves
  isNotified: false,
  isTaught: false,     // what each own card does is said over it
  isKeyAsked: false,   // whether the player was reminded to save the key
  /** The hands whose end was looked at enough, the newest first. @type {string[]} */
  seen: [],
  /** The family of games played last. @type {string | null} */
  last: null,
  /** How each family was played last. @type {Record<string, import('./games.mjs').Way>} */
  ways: {}
}

/** @typedef {typeof DEFAULTS & { with: (name: string, value: any) => Settings }} Settings */

/** @returns {Settings} */
export const readSettings = () => settingsOf({ ...DEFAULTS, ...readKept() })

function readKept() {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? '{}')
  } catch {
    return {}     // a browser that keeps nothing has the defaults
  }
}

/** @param {any} values @returns {Settings} */
const settingsOf = (values) => ({
  ...values,
  with(/** @type {string} */ name, /** @type {any} */ value) {
    const kept = { ...values, ...readKept(), [name]: value }     // another tab may have set something since
    try {
      localStorage.setItem(NAME, JSON.stringify(kept))
    } catch {
      // It holds until the page is left.
    }
    const after = settingsOf(kept)
    apply(after)
    return after
  }
})

/** Nothing was ever set here. */
export function erase() {
  try {
    localStorage.removeItem(NAME)
  } catch {
    // Nothing was kept.
  }
}

/** What the stylesheet goes by. @param {Settings} settings */
export function apply({ theme, isLarge, isStill }) {
  const { dataset } = document.documentElement
  if (theme === 'auto') delete dataset.theme
  else dataset.theme = theme
  dataset.large = String(isLarge)
  dataset.still = String(isStill)
}

/** The language that was set, else the browser's first that there is a catalogue for. @param {Settings} settings */
export function languageOf({ lang }) {
  const wanted = [lang, ...navigator.languages].map((each) => each?.slice(0, 2).toLowerCase())
  return wanted.find((each) => each != null && LANGUAGES.includes(each)) ?? 'en'
}
