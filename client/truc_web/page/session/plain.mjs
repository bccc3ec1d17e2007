// The server's messages as the page gets them: values without bytes, in the one dialect that a guest without a box is
// sent. Whatever a seat with a key has opened is told in it too, so that the page does not know which it is.

import { isBytes, toHex } from '../../lib/bytes.mjs'
import { Malformed, decode } from '../../lib/proof/encoding.mjs'

const UNSHOWN = ['body', 'sig', 'box', 'records', 'record', 'doc', 'refuse', 'head']

/** Bytes as hex, wherever they stand. @param {any} value @returns {any} */
function plainValue(value) {
  if (isBytes(value)) return toHex(value)
  if (Array.isArray(value)) return value.map(plainValue)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plainValue(each)]))
}

/** A message without what is only there to be checked; of a setup with its rules. @param {any} message @returns {any} */
export function plain(message) {
  const shown = Object.fromEntries(Object.entries(message).filter(([name]) => !UNSHOWN.includes(name)))
  return { ...plainValue(shown), ...(message.doc && rulesIn(message.doc)) }
}

/** A document that cannot be read has none to show; what that means, the checks will say. @param {Uint8Array} doc */
function rulesIn(doc) {
  try {
    return { rules: rulesOf(doc) }
  } catch (error) {
    if (error instanceof Malformed) return {}
    throw error
  }
}

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
