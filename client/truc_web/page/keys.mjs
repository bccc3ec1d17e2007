// The keyboard: 1 to 3 for the own cards, a letter for each slot, and a few for the screen. Never while somebody types.

import { buttonsOf, ownCards } from './view/model.mjs'

/** @typedef {import('./ui.mjs').Ui} Ui */

const TYPED = ['INPUT', 'TEXTAREA', 'SELECT']

/** Whether keys are written there. @param {EventTarget | null} target */
const isTyped = (target) => TYPED.includes(/** @type {Element} */ (target).tagName)

/** @param {Ui} ui @param {KeyboardEvent} event */
export function keyPressed(ui, event) {
  const { target, key, ctrlKey, metaKey, altKey } = event
  if (key === 'Escape') {
    // else the keys that play would go on being written
    if (isTyped(target)) /** @type {HTMLElement} */ (target).blur()
    return closeTop(ui)
  }
  if (ctrlKey || metaKey || altKey || isTyped(target)) return
  const table = ui.tableHere
  if (table === null) return stepped(ui, event)
  if (key === '?') return ui.put('sheet', 'keys')
  if (ui.dialog !== null) return
  const speech = ui.speech.of(table.rules)
  const armed = ui.state.screen.armed ?? null
  const option = /^[1-3]$/.test(key) ? ownCards(table, armed)[Number(key) - 1]?.option : null
  if (option) return ui.choose(table, option)
  const letter = key.toUpperCase()
  const slot = buttonsOf(table, speech, armed).find((each) => each.letter === letter && each.isPossible)
  if (slot !== undefined) ui.press(table, slot)
  else if (letter === speech.say('keys.chat')) ui.openSide(table)
  else if (letter === speech.say('keys.signs')) ui.put('sheet', 'signs')
  else if (letter === speech.say('keys.menu')) ui.put('sheet', 'menu')
  else return
  event.preventDefault()
}

// A match that is shown again is stepped through by the arrows.
/** @param {Ui} ui @param {KeyboardEvent} event */
function stepped(ui, event) {
  const [, kind, match] = ui.state.path.split('/')
  const button = { ArrowLeft: 'before', ArrowRight: 'after' }[event.key]
  if (kind !== 'm' || button === undefined || match === undefined) return
  event.preventDefault();
  /** @type {HTMLElement | null} */ (ui.root.querySelector(`[data-step=${button}]`))?.click()
}

/** @param {Ui} ui */
function closeTop(ui) {
  const { screen } = ui.state
  const table = ui.tableHere
  const open = ['chooser', 'sheet', 'armed', 'side'].find((name) => screen[name])
  if (open !== undefined) ui.put(open, null)
  else if (table !== null) ui.dismissEnd(table)
}
