// The types of fields (section 1), written as the tables of the specification write them: `j u, d u, boxes [bin]`.

import { isBytes } from '../bytes.mjs'
import { Malformed } from './encoding.mjs'

/** @typedef {(value: any) => boolean} Is whether a value is of a type */

/** @type {(length: number) => Is} */
const binOf = (length) => (value) => isBytes(value) && value.length === length
/** @type {Is} */
const isU = (value) => typeof value === 'number'

/** @type {Record<string, Is>} */
const TYPES = {
  u: isU,
  t: (value) => typeof value === 'string',
  bin: isBytes,
  h: binOf(32),
  bin16: binOf(16),
  name: (value) => isBytes(value) && value.length <= 64,
  array: Array.isArray,
  stake: (value) => isU(value) || value === 'rest' || value === 'trut',
  hint: (value) => isU(value) || typeof value === 'string'
}

// Commas that stand in no bracket separate.
/** @param {string} text */
function split(text) {
  const parts = text.split(/, */)
  /** @param {string} part */
  const isOpen = (part) => (part.match(/\[/g) ?? []).length > (part.match(/]/g) ?? []).length
  for (let i = 0; i < parts.length;) {
    if (isOpen(parts[i])) parts.splice(i, 2, parts[i] + ', ' + parts[i + 1])
    else i++
  }
  return parts
}

// `x?` is x or nil, `[x]` an array of x, `[x, y]` an array of just these.
/** @param {string} text @returns {Is} */
function typeOf(text) {
  if (text.endsWith('?')) {
    const is = typeOf(text.slice(0, -1))
    return (value) => value === null || is(value)
  }
  if (!text.startsWith('[')) return TYPES[text]
  const types = split(text.slice(1, -1)).map(typeOf)
  if (types.length === 1) return (value) => Array.isArray(value) && value.every(types[0])
  return (value) => Array.isArray(value) && value.length === types.length && types.every((is, i) => is(value[i]))
}

/**
 * From `name type, …` to a function that makes an object of an array of values, or throws Malformed.
 *
 * @param {string} text
 * @returns {(values: any) => any}
 */
export function shape(text) {
  const fields = text === '' ? [] : split(text).map((field) => {
    const at = field.indexOf(' ')
    return { name: field.slice(0, at), is: typeOf(field.slice(at + 1)) }
  })
  return (values) => {
    if (!Array.isArray(values) || values.length !== fields.length) throw new Malformed('another number of fields')
    return Object.fromEntries(fields.map(({ name, is }, i) => {
      if (!is(values[i])) throw new Malformed(`the field ${name}`)
      return [name, values[i]]
    }))
  }
}

/** The same for a body, an array that begins with its tag. @param {string} kind @param {string} text */
export function tagged(kind, text) {
  const fieldsOf = shape(text)
  return (/** @type {any} */ value) => {
    if (!Array.isArray(value) || value[0] !== 'truc/1/' + kind) throw new Malformed(`no ${kind}`)
    return fieldsOf(value.slice(1))
  }
}
