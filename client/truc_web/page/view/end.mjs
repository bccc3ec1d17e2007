// The sheet when a hand is over: who has it and why, everybody's cards, and what was checked, line by line.

import { h } from '../h.mjs'
import { card } from './cards.mjs'
import { bottomOf, goalOf, namesOf, packOf, scoreOf, sideOf } from './model.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
export function handEnd(ui, table, speech) {
  const closed = table.closed
  if (closed === null || table.proof.failed !== null) return null
  const names = namesOf(table, speech)
  const won = closed.facts.find(({ what }) => what === 'hand_won' || what === 'hand_drawn')
  const points = closed.facts.filter(({ what }) => what === 'points_scored')
  const title = titleOf(table, won, names, speech)
  const pack = packOf(speech, ui.settings.isFour)
  const isProved = table.proof.proved?.j === closed.j
  let tick = 0
  return h('div', { class: 'veil', key: `end-${closed.j}` }, h('section', { class: 'sheet', role: 'dialog', 'aria-label': title, 'data-dialog': 'end' },
    h('h2', null, title, table.ended === null ? gained(table, points) : finalScore(table, speech)),
    h('p', null, points.map((fact) => speech.tell(fact, names)).filter(Boolean).join('; ')),
    h('div', { class: 'opened' }, Object.entries(closed.opened).map(([seat, cards]) => h('div', { class: sideOf(table, Number(seat)) },
      h('p', null, names[Number(seat)]),
      cards.map((name) => h('span', null, card(name, pack), isProved && h('b', { class: 'checked', style: { '--i': String(tick++) }, 'aria-hidden': 'true' }, '✓')))))),
    proofLines(table, speech, isProved),
    h('div', { class: 'go' }, h('button', { class: 'b yes', onclick: () => ui.dismissEnd(table) }, h('b', null, speech.say(table.ended === null ? 'page.next_hand' : 'page.go_on'))),
      h('button', { class: 'link', onclick: () => ui.put('sheet', 'proof') }, speech.say('page.how_checked')))))
}

/** Whose the hand is, or the match: as a player sees it, and by name for who watches. @param {Table} table @param {any} won the fact @param {string[]} names @param {Speech} speech */
function titleOf(table, won, names, speech) {
  if (table.ended !== null) return speech.say(matchTitle(table))
  if (won === undefined || won.what === 'hand_drawn') return speech.say('page.hand_nobodys')
  if (table.seat === null) return speech.tellFirst(won, names) ?? ''
  return speech.say(won.side === table.seat % 2 ? 'page.hand_ours' : 'page.hand_theirs')
}

/** What a hand has brought to the own side. @param {Table} table @param {any[]} points the facts */
function gained({ seat }, points) {
  if (seat === null) return null
  const gain = points.reduce((sum, fact) => sum + (fact.side === seat % 2 ? fact.points : -fact.points), 0)
  return gain !== 0 && h('b', { class: gain > 0 ? 'us' : 'them' }, gain > 0 ? `+${gain}` : `−${-gain}`)
}

/** Games, or points where there is one game; the own side's first. @param {Table} table @param {Speech} speech */
function finalScore(table, speech) {
  const { winner } = table.ended
  const own = bottomOf(table) % 2
  const scored = [own, 1 - own].map((side) => goalOf(table).games > 1 ? table.view.score[side][0] : scoreOf(table, side, speech).points)
  return winner !== null && h('b', { class: winner === own ? 'us' : 'them' }, scored.join(' – '))
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
    h('li', { class: 'wide', style: { '--i': '11' } }, speech.say(proof.isUnseenByHost ? 'sealed.nobody_saw' : proved.isSigned ? 'proof.nobody_chose' : 'proof.nobody_with_a_key_was_cheated')))
}
