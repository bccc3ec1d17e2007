// The sheet when a hand is over: who has it and why, everybody's cards, and what was checked, line by line.

import { h } from '../h.mjs'
import { card } from './cards.mjs'
import { bottomOf, namesOf, packOf, sideOf } from './model.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
export function handEnd(ui, table, speech) {
  const closed = table.closed
  if (closed === null || table.proof.failed !== null) return null
  const names = namesOf(table, speech)
  const own = bottomOf(table) % 2
  const won = closed.facts.find(({ what }) => what === 'hand_won' || what === 'hand_drawn')
  const points = closed.facts.filter(({ what }) => what === 'points_scored')
  const gain = points.reduce((sum, fact) => sum + (fact.side === own ? fact.points : -fact.points), 0)
  const title = table.ended !== null ? speech.say(matchTitle(table)) : won === undefined || won.what === 'hand_drawn'
    ? speech.say('page.hand_nobodys') : speech.say(won.side === own ? 'page.hand_ours' : 'page.hand_theirs')
  const pack = packOf(table, speech, ui.settings.isFour)
  const isProved = table.proof.proved?.j === closed.j
  let tick = 0
  return h('div', { class: 'veil', key: `end-${closed.j}` }, h('section', { class: 'sheet', role: 'dialog', 'aria-label': title, 'data-dialog': 'end' },
    h('h2', null, title, gain !== 0 && h('b', { class: gain > 0 ? 'us' : 'them' }, gain > 0 ? `+${gain}` : `−${-gain}`)),
    h('p', null, points.map((fact) => speech.tell(fact, names)).filter(Boolean).join('; ')),
    h('div', { class: 'open' }, Object.entries(closed.opened).map(([seat, cards]) => h('div', { class: sideOf(table, Number(seat)) },
      h('p', null, names[Number(seat)]),
      cards.map((name) => h('span', null, card(name, pack), isProved && h('b', { class: 'checked', style: { '--i': String(tick++) }, 'aria-hidden': 'true' }, '✓')))))),
    proofLines(table, speech, isProved),
    h('div', { class: 'go' }, h('button', { class: 'b yes', onclick: () => ui.put('ended', closed.j) }, h('b', null, speech.say(table.ended === null ? 'page.next_hand' : 'page.go_on'))),
      h('button', { class: 'link', onclick: () => ui.put('sheet', 'proof') }, speech.say('page.how_checked')))))
}

/** @param {Table} table */
function matchTitle({ ended, seat }) {
  if (seat === null || ended.winner === null) return 'page.match_watched'
  return ended.winner === seat % 2 ? 'page.match_won' : 'page.match_lost'
}

/** @param {Table} table @param {Speech} speech @param {boolean} isProved */
export function proofLines({ proof, rules }, speech, isProved) {
  const { proved } = proof
  if (rules?.params.reveal === 'match' && !isProved) return h('p', null, speech.say('proof.at_the_end'))
  if (!isProved) return h('ul', { class: 'proof waiting' }, h('li', null, speech.say('proof.checking')))
  const lines = [
    speech.say('proof.secrets', { n: proved.secrets }), speech.say('proof.shuffled'), speech.say('proof.sealed', { n: proved.cards }),
    speech.say(proved.isSigned ? 'proof.signed' : 'proof.signed_by_keys')
  ]
  return h('ul', { class: 'proof' }, lines.map((text, i) => h('li', { style: { '--i': String(i + 6) } }, text)),
    h('li', { class: 'wide', style: { '--i': '11' } }, speech.say(proved.isSigned ? 'proof.nobody_chose' : 'proof.nobody_with_a_key_was_cheated')))
}
