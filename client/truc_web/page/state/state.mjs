// All that the page knows: one reducer from state and event to state. `effects.mjs` says what follows from a change.

import { chose, freshTable, judgedTable, toldTable } from './table.mjs'

const MOST_CHAT = 200
const MOST_TOASTS = 3

/** @typedef {import('./table.mjs').Table} Table */
/** @typedef {typeof FIRST} State */

export const FIRST = {
  line: {
    state: 'off', code: /** @type {string | null} */ (null), until: /** @type {number | null} */ (null), wasReady: false,
    movedTo: /** @type {string | null} */ (null)     // where programs find the server instead, until it answers here again
  },
  /** @type {any} */
  server: null,
  /** @type {any} */
  me: null,
  /** @type {{ name: string | null, isNew: boolean, isRefused?: boolean, why?: string | null } | null} */
  vault: null,
  isSecond: false,     // another tab has the key
  isStale: false,      // the server has a newer page
  /** @type {{ online: number, tables: number, playing: number } | null} */
  lobby: null,
  /** @type {Record<string, any>} */
  listed: {},          // the public tables, by code
  /** @type {any[]} */
  chat: [],
  /** @type {Record<string, Table>} */
  tables: {},
  /** @type {{ id: number, text: string, what?: string }[]} */
  toasts: [],
  /** @type {number | null} */
  drainsUntil: null,
  /** @type {Record<string, any>} */
  answers: {},         // to what a screen has asked for, by its name
  /** @type {Record<string, any>} */
  screen: {},          // what is open or typed, by the view that has it
  /** @type {string} */
  path: '/'
}

/**
 * @param {State} state
 * @param {any} event of the worker, or of the page itself: `chose`, `screen`, `path`, `answered`, `toast`
 * @returns {State}
 */
export function reduce(state, event) {
  switch (event.what) {
    case 'line': {
      const until = event.retryMs === undefined ? null : event.now + event.retryMs
      const movedTo = event.state === 'ready' ? null : event.to ?? state.line.movedTo
      return { ...state, line: { state: event.state, code: event.code ?? null, until, wasReady: state.line.wasReady || state.line.state === 'ready', movedTo } }
    }
    case 'server': return { ...state, server: event.info, drainsUntil: null }
    case 'me': return { ...state, me: event, isSecond: false }
    case 'vault': return { ...state, vault: { ...state.vault, ...event }, isSecond: false }
    case 'second': return { ...state, isSecond: true }
    case 'stale': return { ...state, isStale: true }
    case 'told': return told(state, event.message, event.now)
    case 'seated': {
      const known = state.tables[event.table]
      const table = known === undefined || known.seat !== event.seat ? { ...freshTable(event.table, event.seat), shown: known?.shown ?? state.listed[event.table] ?? null, log: known?.log ?? [] } : { ...known, gone: null }
      return withTable(state, event.table, table)
    }
    case 'left': {
      const { [event.table]: left, ...tables } = state.tables
      return left === undefined || left.gone !== null ? state : { ...state, tables }
    }
    case 'checked': case 'proved': case 'kept': case 'failed': return changed(state, event.table, (table) => judgedTable(table, event))
    case 'chose': return changed(state, event.table, (table) => chose(table, event.at, event.key))
    case 'read': return changed(state, event.table, (table) => table.unread === 0 ? table : { ...table, unread: 0 })
    case 'answered': return { ...state, answers: { ...state.answers, [event.name]: event.answer } }
    case 'screen': return { ...state, screen: { ...state.screen, [event.name]: event.value }, toasts: event.name === 'sure' ? state.toasts.filter(({ what }) => what !== 'sure') : state.toasts }
    case 'path': return { ...state, path: event.path, screen: {} }
    case 'toast': return toasted(state, event.text, event.now, event.about)
    case 'untoast': return { ...state, toasts: state.toasts.filter(({ id }) => id !== event.id) }
    default: return state
  }
}

/** @param {State} state @param {string} code @param {Table} table */
const withTable = (state, code, table) => ({ ...state, tables: { ...state.tables, [code]: table } })

/** @param {State} state @param {string} code @param {(table: Table) => Table} change */
const changed = (state, code, change) => state.tables[code] === undefined ? state : withTable(state, code, change(state.tables[code]))

/** @param {State} state @param {string} text @param {number} now @param {string} [what] which question it asks */
const toasted = (state, text, now, what) => ({ ...state, toasts: [...state.toasts.slice(1 - MOST_TOASTS), { id: now, text, what }] })

/** @param {State} state @param {any} message @param {number} now @returns {State} */
function told(state, message, now) {
  switch (message.t) {
    case 'lobby': return { ...state, lobby: message }
    case 'caps': {
      const { add = {}, del = [] } = message
      const caps = Object.fromEntries(Object.entries({ ...state.server.caps, ...add }).filter(([name]) => !del.includes(name)))
      return { ...state, server: { ...state.server, caps } }
    }
    case 'draining': return { ...state, drainsUntil: now + message.left_ms }
    case 'host_says': return toasted(state, message.text, now)
    case 'chat': if (message.table === undefined) return { ...state, chat: [...state.chat.slice(1 - MOST_CHAT), message] }
  }
  const listed = listedAfter(state.listed, message)
  return changed({ ...state, listed }, message.table, (table) => toldTable(table, message, now))
}

/** @param {Record<string, any>} listed @param {any} message */
function listedAfter(listed, message) {
  if (message.t === 'table' && !message.private) return { ...listed, [message.table]: message }
  if (message.t !== 'closed') return listed
  const { [message.table]: _, ...others } = listed
  return others
}
