// What the way to a seat does without, and every other screen needs: all the words, the look of the other screens, the cards
// as they are drawn, the keyboard, and what reaches a player beside the picture.

import { allWords } from './first.mjs'
import { keyPressed } from './keys.mjs'
import { Outside } from './outside.mjs'
import * as drawings from './view/cards.mjs'
import { sealedTerms } from './view/sealed.mjs'
import { Speech } from './words.mjs'

/** @typedef {import('./ui.mjs').Ui} Ui */

/** @param {Ui} ui */
export async function complete(ui) {
  const [[catalogue, own]] = await Promise.all([allWords(), look()])
  ui.own = own
  ui.speech = new Speech(catalogue, own.sets)
  ui.drawings = drawings
  ui.sealedTerms = sealedTerms
  const outside = new Outside(ui)
  ui.outside = (effect) => outside.bring(effect)
  ui.unbrought.splice(0).forEach(ui.outside)
  addEventListener('keydown', (event) => keyPressed(ui, event))
  ui.draw()
}

/** No other screen is drawn before its look is there. */
function look() {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: new URL('screens.css', import.meta.url).href })
  return new Promise((resolve, reject) => {
    Object.assign(link, { onload: resolve, onerror: reject })
    document.head.append(link)
  })
}
