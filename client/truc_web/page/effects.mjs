// What follows from a change of the state, beside the picture: what is said aloud, sounds, and notices. Pure: the page
// brings it about.

import { isMine } from './state/table.mjs'

/**
 * @typedef {{ do: 'title', n: number }
 *   | { do: 'sound', name: 'turn' | 'card' | 'call' | 'won' | 'lost' }
 *   | { do: 'notify', table: string }
 *   | { do: 'announce', table: string, facts: any[] }
 *   | { do: 'turn', table: string }
 *   | { do: 'back' } | { do: 'reload' } | { do: 'preload' }} Effect
 */

/** @typedef {import('./state/state.mjs').State} State */
/** @typedef {import('./state/table.mjs').Table} Table */

/** @type {Record<string, 'card' | 'call'>} */
const SOUNDS = { card_played: 'card', card_covered: 'card', stake_asked: 'call', envido_called: 'call', contraflor_called: 'call', flor_declared: 'call' }

/** At how many tables it is one's turn. @param {State} state */
const turns = ({ tables }) => Object.values(tables).filter((table) => table.seat !== null && isMine(table)).length

/** Whether a hand is played that a new page would interrupt. @param {State} state */
const isBusy = ({ tables }) => Object.values(tables).some(({ seat, view, ended }) => seat !== null && ended === null && ['called', 'hand'].includes(view.phase))

/** Whether the first cards lie on a table. @param {State} state */
const isDealt = ({ tables }) => Object.values(tables).some(({ hand }) => hand.each > 0)

/** @param {State} before @param {State} after @returns {Effect[]} */
export function effects(before, after) {
  /** @type {Effect[]} */
  const found = []
  for (const [code, table] of Object.entries(after.tables)) {
    const old = before.tables[code]
    if (old !== undefined && old !== table) found.push(...ofTable(code, old, table))
  }
  if (before.line.state !== 'ready' && after.line.state === 'ready' && before.line.wasReady) found.push({ do: 'back' })
  const mayReload = after.isStale && !isBusy(after)
  if (mayReload && (!before.isStale || isBusy(before))) found.push({ do: 'reload' })
  // the screens behind the menu come once nothing else is
  // waited for, so that they are there while the server is gone
  if (isDealt(after) && !isDealt(before)) found.push({ do: 'preload' })
  const n = turns(after)
  if (n !== turns(before)) found.push({ do: 'title', n })
  return found
}

/** @param {string} code @param {Table} before @param {Table} after @returns {Effect[]} */
function ofTable(code, before, after) {
  /** @type {Effect[]} */
  const found = []
  const facts = after.match === before.match ? after.log.slice(after.log.lastIndexOf(before.log.at(-1)) + 1) : []
  const told = facts.map(({ fact }) => fact).filter((fact) => fact !== undefined)
  // what comes at once is said at once: a live region tells what it holds last. What was missed is told, but makes no sound; a
  // match that is told again from its beginning on is not told at all: what counts of it is whose turn it is now.
  if (told.length > 0 && after.backlog !== 'whole') found.push({ do: 'announce', table: code, facts: told })
  for (const fact of after.backlog === null ? told : []) {
    if (fact.what in SOUNDS) found.push({ do: 'sound', name: SOUNDS[fact.what] })
    if (fact.what === 'match_ended' && after.seat !== null) found.push({ do: 'sound', name: fact.winner === after.seat % 2 ? 'won' : 'lost' })
  }
  const isTurn = after.seat !== null && isMine(after) && (!isMine(before) || after.options?.at !== before.options?.at)
  if (isTurn) found.push({ do: 'turn', table: code }, { do: 'sound', name: 'turn' }, { do: 'notify', table: code })
  return found
}
