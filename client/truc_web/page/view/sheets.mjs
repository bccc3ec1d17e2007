// What opens over the table: the proof behind the badge, signs and phrases, the menu, a failed check, the keys.

import { h } from '../h.mjs'
import { download, invite } from '../sharing.mjs'
import { proofLines } from './end.mjs'
import { badgeOf, sideOf } from './model.mjs'

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
export function sheet(ui, table, speech) {
  const sheets = { proof, signs, menu, keys }
  const open = ui.state.screen.sheet
  const made = sheets[/** @type {keyof typeof sheets} */ (open)]
  return made === undefined ? null : framed(ui, speech, open, made(ui, table, speech))
}

/** @param {Ui} ui @param {Speech} speech @param {string} name @param {any[]} body the title first */
function framed(ui, speech, name, [title, ...body]) {
  const shut = () => ui.put('sheet', null)
  return h('div', { class: 'veil', key: `sheet-${name}`, onclick: (/** @type {any} */ event) => event.target === event.currentTarget && shut() },
    h('section', { class: 'sheet', role: 'dialog', 'aria-label': title, 'data-dialog': name }, h('h2', null, title), body,
      h('div', { class: 'go' }, h('button', { class: 'b', onclick: shut }, h('b', null, speech.say('page.back'))))))
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function proof(ui, table, speech) {
  const isKeyed = ui.state.me?.isKeyed ?? false
  const { how } = badgeOf(table, isKeyed, speech)
  const { kept, proved } = table.proof
  return [speech.say('page.how_checked'),
    h('p', null, speech.say(how === 'none' && table.seat !== null && !isKeyed ? 'proof.guest_means' : how === 'none' ? 'proof.partly_means' : table.proof.isUnseenByHost ? 'sealed.means' : 'proof.means')),
    proofLines(table, speech, proved !== null),
    h('p', null, speech.say('proof.page_from_host')),
    kept !== null && h('p', null, h('button', { class: 'b', onclick: () => download(ui, kept) }, h('b', null, speech.say('page.save_file'))))]
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function signs(ui, table, speech) {
  const { signals = null, phrases = [] } = /** @type {any} */ (table.rules?.params ?? {})
  const n = table.shown?.n ?? 2
  const words = n > 2 ? signals?.vocabulary ?? [] : []
  const partner = Array.from({ length: n }, (_, seat) => seat).find((seat) => seat !== table.seat && sideOf(table, seat) === 'us') ?? 0
  return [speech.say(words.length > 0 ? 'page.signs' : 'page.phrases'),
    words.length > 0 && h('p', null, speech.say(signals.visible_to === 'table' ? 'page.signs_seen_by_all' : 'page.signs_seen_by_partner')),
    h('div', { class: 'choices' },
      words.map((/** @type {string} */ name) => {
        const { word, gesture } = speech.sign(name)
        return h('button', { class: 'b', onclick: () => ui.sign(table, name, partner) }, h('b', { lang: speech.tongue }, word), gesture !== '' && h('small', null, gesture))
      }),
      phrases.map((/** @type {string} */ name) => h('button', { class: 'b', onclick: () => ui.sayPhrase(table, name) },
        h('b', { lang: speech.tongue }, speech.phrase(name).word), h('small', null, speech.phrase(name).meaning))))]
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function menu(ui, table, speech) {
  const isPlaying = table.seat !== null && table.view.phase !== 'none' && table.ended === null
  const { paused } = table.view
  return [speech.say('page.menu'),
    h('div', { class: 'choices' },
      h('button', { class: 'b', onclick: () => invite(ui, table) }, h('b', null, speech.say('page.watch_link'))),
      isPlaying && h('button', { class: 'b', onclick: () => ui.interrupt(table, paused ? 'resume' : 'pause') }, h('b', null, speech.say(paused ? 'moves_page.resume' : 'moves_page.pause'))),
      isPlaying && h('button', { class: 'b no', onclick: () => ui.resign(table) }, h('b', null, speech.say(ui.state.screen.sure === 'resign' ? 'page.resign_sure' : 'moves_page.resign'))),
      h('button', { class: 'b', onclick: () => ui.put('sheet', 'keys') }, h('b', null, speech.say('page.shortcuts'))),
      h('button', { class: 'b', onclick: () => ui.go('/settings') }, h('b', null, speech.say('page.settings'))),
      h('button', { class: 'b', onclick: () => ui.go('/') }, h('b', null, speech.say('page.lobby'))))]
}

/** @param {Ui} ui @param {Table} table @param {Speech} speech */
function keys(ui, table, speech) {
  const own = ['1 2 3', 'c', 'm', 'Esc']
  return [speech.say('page.shortcuts'), h('dl', { class: 'keys' }, own.map((key, i) => [h('dt', null, h('kbd', null, key)), h('dd', null, speech.say(`page.shortcut_${i}`))]))]
}

/** A check has failed: the whole screen says so. @param {Ui} ui @param {Table} table @param {Speech} speech */
export function stopped(ui, table, speech) {
  const { check, kind, culprit, k, why, evidence } = table.proof.failed
  const isBefore = kind === 'stopped_before'
  const blamed = culprit === null ? speech.say('proof.nobody_blamed') : speech.say('proof.blamed', { who: culprit === 0 ? speech.say('said.the_server') : table.shown?.seats[culprit - 1]?.name ?? '' })
  return h('div', { class: 'veil alarm', key: 'failed' }, h('section', { class: 'sheet', role: 'alertdialog', 'aria-label': speech.say('page.stopped'), 'data-dialog': 'failed' },
    h('h2', null, speech.say('page.stopped')),
    (check === null || isBefore) && h('p', null, speech.say(`proof.${kind}`)), check !== null && h('p', null, speech.catalogue.wrong[check] ?? check),
    kind === 'unsound' && h('p', null, blamed), h('p', null, speech.say('proof.nothing_signed')),
    check === null ? h('p', { class: 'dim', lang: 'en' }, why) : !isBefore && h('p', { class: 'dim' }, speech.say('proof.at_position', { check, k })),
    h('div', { class: 'go' },
      evidence !== null && h('button', { class: 'b yes', onclick: () => download(ui, evidence) }, h('b', null, speech.say('proof.save_evidence'))),
      h('button', { class: 'b', onclick: () => ui.go('/') }, h('b', null, speech.say('page.lobby'))))))
}
