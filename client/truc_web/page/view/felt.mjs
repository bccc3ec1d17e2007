// The felt: who sits where, what they say, the tricks, the own cards.

import { h } from '../h.mjs'
import { capital } from '../words.mjs'
import { card } from './cards.mjs'
import { awaited } from '../state/table.mjs'
import { bottomOf, bubblesOf, effectOf, heldBy, namesOf, ownCards, packOf, placeOf, sideOf } from './model.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

const SIZES = { 2: 'two', 4: 'four', 6: 'six' }

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
export function felt(ui, table, speech) {
  const n = table.shown?.n ?? 2
  const pack = packOf(speech, ui.settings.isFour)
  const isMine = table.seat !== null && awaited(table).includes(table.seat)
  const seats = Array.from({ length: n }, (_, seat) => seatOf(ui, table, speech, pack, seat))
  return h('main', { class: `felt ${SIZES[/** @type {2 | 4 | 6} */ (n)]}${isMine ? ' mine' : ''}`, 'aria-label': speech.say('page.table') },
    marks(table, speech), seats, bubblesOf(table, speech).map((said) => bubble(table, speech, said)),
    n === 2 ? lanes(table, pack) : middle(table, speech, pack),
    turnUp(table, speech, pack), value(table, speech), ownHand(ui, table, speech, pack))
}

/** Who has won which trick. @param {Table} table @param {Speech} speech */
function marks(table, speech) {
  const won = (table.view.tricks ?? []).map((/** @type {number | null} */ side) => side === null ? 'tied' : sideOf(table, side))
  const words = won.map((look) => look === 'tied' ? speech.say('screen.tied') : speech.say(look === 'us' ? 'page.us' : 'page.them'))
  return h('div', { class: 'marks', role: 'img', 'aria-label': `${speech.say('screen.tricks')}: ${words.join(', ') || '–'}` },
    capital(speech.say('screen.tricks')), [0, 1, 2].map((i) => h('i', { class: won[i] ?? '' })))
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech @param {import('./cards.mjs').Pack} pack @param {number} seat */
function seatOf(ui, table, speech, pack, seat) {
  const names = namesOf(table, speech)
  const shown = table.shown?.seats[seat] ?? { kind: 'empty' }
  const place = placeOf(table, seat, speech)
  const isOwn = seat === bottomOf(table)
  const isFree = shown.kind === 'empty' && table.ended === null
  const isOn = awaited(table).includes(seat)
  const left = isOn ? ui.leftOf(table) : null
  const held = (isOwn && table.seat !== null) || table.ended !== null ? 0 : heldBy(table, seat)
  const laid = table.hand.tricks.flatMap((trick) => trick.laid.filter((one) => one.seat === seat).map(({ card: name }) => name))
  const known = table.hand.partners?.of === seat ? table.hand.partners.cards : table.hand.opened[seat] ?? []
  const shownCards = known.filter((name) => !laid.includes(name))
  const away = table.away[seat]
  return h('div', { class: `seat at-${place} ${sideOf(table, seat)}${isOn ? ' on' : ''}${isFree ? ' free' : ''}`, key: `seat-${seat}` },
    h('div', { class: 'who' },
      h('span', { class: 'av', style: { '--t': left === null ? (isOn ? '100' : '0') : String(left) } }, h('b', null, isFree ? '+' : initial(names[seat]))),
      h('p', null, isFree ? speech.say('page.free_seat') : names[seat],
        table.view.dealer === seat && h('span', { class: 'dealer', title: speech.term('dealer') }, speech.say('page.dealer_letter')),
        h('small', null, away ? speech.say(away.online ? 'page.thinking' : 'page.away') : noteOf(table, speech, seat, shown)))),
    held > 0 && h('div', { class: 'fan', 'aria-label': speech.counted('card', held) },
      Array.from({ length: held }, (_, i) => card(shownCards[i] ?? null, pack))))
}

/** @param {string} name */
const initial = (name) => ([...(name ?? '?')][0] ?? '?').toUpperCase()

/** @param {Table} table @param {Speech} speech @param {number} seat @param {any} shown */
function noteOf(table, speech, seat, shown) {
  const n = table.shown?.n ?? 2
  if (shown.kind === 'empty') return ''
  if (table.code === '') return ''     // of a match that is shown again
  if (table.view.phase === 'none') return shown.ready ? speech.say('page.ready') : speech.say('page.not_ready')
  if (awaited(table).includes(seat)) return seat === table.seat ? speech.say('page.your_turn') : speech.say('page.thinks')
  if (n > 2 && table.seat !== null && seat !== table.seat && sideOf(table, seat) === 'us') return speech.say('page.partner')
  return ''
}

/** @param {Table} table @param {Speech} speech @param {any} said */
function bubble(table, speech, { seat, word, gloss, isCall }) {
  const place = placeOf(table, seat, speech)
  return h('div', { class: `say by-${place}${isCall ? ' call' : ''}`, key: `say-${seat}-${word}` },
    h('b', { lang: speech.tongue }, word), gloss !== '' && h('small', null, gloss))
}

/** Two seats: the tricks side by side. @param {Table} table @param {import('./cards.mjs').Pack} pack */
function lanes(table, pack) {
  const { tricks } = table.hand
  return h('div', { class: 'lanes' }, [0, 1, 2].map((i) => {
    const trick = tricks[i]
    const at = (/** @type {boolean} */ isOwn) => {
      const laid = trick?.laid.find(({ seat }) => (seat === bottomOf(table)) === isOwn)
      return laid === undefined ? h('span', { class: 'slot' }) : card(laid.card, pack, { class: lookOf(trick, laid.seat), key: `${i}-${laid.seat}` })
    }
    return h('div', { class: `trick${i > 0 && !trick ? ' later' : ''}` }, at(false), at(true))
  }))
}

/** How a card of a trick looks: won, lost, or not decided. @param {any} trick @param {number} seat */
function lookOf(trick, seat) {
  if (trick.side === undefined) return ''
  if (trick.side === null) return 'tied'
  return seat % 2 === trick.side ? 'won' : 'lost'
}

/** Four and six: the newest trick, each card towards its seat. */
/** @param {Table} table @param {Speech} speech @param {import('./cards.mjs').Pack} pack */
function middle(table, speech, pack) {
  const trick = table.hand.tricks.at(-1)
  return h('div', { class: 'middle' }, (trick?.laid ?? []).map(({ seat, card: name }) =>
    h('div', { class: `pt at-${placeOf(table, seat, speech)}`, key: `${table.hand.tricks.length}-${seat}` }, card(name, pack, { class: lookOf(trick, seat) }))))
}

/** @param {Table} table @param {Speech} speech @param {import('./cards.mjs').Pack} pack */
function turnUp(table, speech, pack) {
  const { up } = table.hand
  return up !== null && h('div', { class: 'turn-up' }, h('span', null, speech.term('turn-up')), card(up, pack))
}

/** @param {Table} table @param {Speech} speech */
function value({ hand: { worth }, view }, speech) {
  if (worth === null || view.phase !== 'hand') return null
  const { envido, flor } = worth
  return h('div', { class: 'value' }, speech.say(flor === null ? 'page.your_envido' : 'page.your_flor'), h('b', null, flor ?? envido))
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech @param {import('./cards.mjs').Pack} pack */
function ownHand(ui, table, speech, pack) {
  if (table.seat === null || table.ended !== null) return null
  const armed = ui.state.screen.armed ?? null
  const cards = ownCards(table, armed)
  return h('div', { class: 'hand', role: 'group', 'aria-label': speech.say('page.your_cards') }, cards.map(({ name, place, option, isUp }, i) =>
    h('button', {
      key: `own-${place}`, class: `${isUp ? 'up' : ''}${option === null ? ' idle' : ''}`, 'aria-disabled': option === null ? 'true' : null,
      onclick: () => option !== null && ui.choose(table, option), 'data-card': name
    }, card(name, pack), ui.settings.isTaught && name !== null && told(table, speech, name), h('kbd', { 'aria-hidden': 'true' }, i + 1))))
}

/** For who learns the game. @param {Table} table @param {Speech} speech @param {string} name */
function told(table, speech, name) {
  const effect = effectOf(table, name)
  return effect !== null && h('small', { class: `effect ${effect}` }, speech.say(`learn.${effect}`))
}
