// The server's messages as the page gets them: values without bytes, in the one dialect that a guest without a box is
// sent. Whatever a seat with a key has opened is told in it too, so that the page does not know which it is.
//
// What people are called and what they say is as an honest server lets it through (docs/protocol/limits.md, "Names"):
// nothing turns the writing around it, floods a line, or fills a screen.

import { isBytes, toHex } from '../../lib/bytes.mjs'
import { Malformed, decode } from '../../lib/proof/encoding.mjs'

const UNSHOWN = ['body', 'sig', 'box', 'records', 'record', 'doc', 'refuse', 'head']

const NAMES = ['name', 'names']
const LONGEST_NAME = 64
const LONGEST_TEXT = 1000
const ORDINARY = /^[ -~]*$/
const UNSEEN = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g     // controls, turns of direction
const FLOOD = /(\p{M}{4})\p{M}+/gu     // more marks than a letter has

/** @param {string} text @param {number} most */
function readable(text, most) {
  if (ORDINARY.test(text) && text.length <= most) return text
  return [...text.replace(UNSEEN, '').replace(FLOOD, '$1')].slice(0, most).join('')
}

/** A name that is written into a record. @param {string} name */
export const readableName = (name) => readable(name, LONGEST_NAME)

/** Bytes as hex, and texts readable, wherever they stand. @param {any} value @param {number} [most] @returns {any} */
function plainValue(value, most = LONGEST_TEXT) {
  if (typeof value === 'string') return readable(value, most)
  if (isBytes(value)) return toHex(value)
  if (Array.isArray(value)) return value.map((each) => plainValue(each, most))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plainValue(each, NAMES.includes(name) ? LONGEST_NAME : LONGEST_TEXT)]))
}

/** A message without what is only there to be checked; of a setup with its rules and names. @param {any} message @returns {any} */
export function plain(message) {
  const shown = Object.fromEntries(Object.entries(message).filter(([name]) => !UNSHOWN.includes(name)))
  return { ...plainValue(shown), ...(message.doc && rulesIn(message.doc)), ...(message.t === 'setup' && namesIn(message.records)) }
}

/** The name that somebody has signed with a seat: the last field, of a guest too. @param {unknown} body */
export function nameIn(body) {
  const fields = isBytes(body) ? decode(body) : null
  const name = Array.isArray(fields) ? fields.at(-1) : null
  return isBytes(name) ? readableName(new TextDecoder().decode(name)) : ''
}

/** What cannot be read has nothing to show; what that means, the checks will say. @template T @param {() => T} read */
function readFrom(read) {
  try {
    return read()
  } catch (error) {
    if (error instanceof Malformed) return {}
    throw error
  }
}

/** @param {Uint8Array} doc */
const rulesIn = (doc) => readFrom(() => ({ rules: rulesOf(doc) }))

/** @param {unknown} records of a setup: the server's are around those of the seats */
const namesIn = (records) => Array.isArray(records) ? readFrom(() => ({ names: records.slice(1, -1).map((record) => nameIn(record?.[1])) })) : {}

/**
 * A rule document as docs/rules/parameters.md has it, its groups as objects.
 *
 * @typedef {{ variant: string, pack: string[], params: any }} Rules
 * @param {Uint8Array} doc
 * @returns {Rules}
 */
export function rulesOf(doc) {
  const [, , variant, , pack, params] = /** @type {any[]} */ (decode(doc))
  return { variant, pack, params: grouped(params) }
}

/** @param {any} value @returns {any} */
function grouped(value) {
  const isGroup = Array.isArray(value) && value.length > 0 &&
    value.every((pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string')
  return isGroup ? Object.fromEntries(value.map(([name, each]) => [name, grouped(each)])) : value
}
