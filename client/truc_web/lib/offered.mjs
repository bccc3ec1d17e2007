// Options that a server offers a seat with a key, in a box: each is read and checked before anybody may choose it. A client that
// finds its options by itself (own_options.mjs) is sent none.

import { same } from './bytes.mjs'
import { Malformed } from './proof/encoding.mjs'
import { readArgs } from './proof/records.mjs'
import { shape } from './proof/shapes.mjs'

/** @typedef {import('./seat.mjs').Option} Option */
/** @typedef {import('./seat.mjs').Seat} Seat */
/** @typedef {import('./proof/boxes.mjs').HeldCard} HeldCard */

const optionsShape = shape('options [[t, array, t, array]]')

// Whether the line of an option says what it is: the kind, then its cards by name or its figures. A cut names no place.
/**
 * @param {string} line
 * @param {string} kind
 * @param {unknown[]} args
 * @param {{ pack: string[], hand: HeldCard[] }} held
 */
function isLine(line, kind, args, { pack, hand }) {
  const values = readArgs(kind, args, pack.length)
  const ask = values.ask == null ? [] : ['raise', values.ask]
  /** @type {Record<string, () => (string | undefined)[]>} */
  const words = {
    play: () => [pack[values.card], ...ask],
    show: () => values.openings.map((/** @type {any} */ [, card]) => pack[card]).sort(),
    cover: () => [pack[hand[values.slot]?.[0]]], cut: () => []
  }
  const [first, ...rest] = line.split(' ')
  const said = kind === 'show' ? rest.sort() : rest
  const isUnnamed = kind === 'cover' && rest.length === 0
  return first === kind && (isUnnamed || said.join(' ') === (words[kind]?.() ?? args).join(' '))
}

/**
 * The options in what a box held, null where there was none; Malformed where one of them is not to be signed.
 *
 * @param {Seat} seat
 * @param {any} value
 * @returns {Option[]}
 */
export function readOptions(seat, value) {
  if (value === null) throw new Malformed('options outside a box')
  /** @type {Option[]} */
  const options = optionsShape([value]).options
  options.forEach((option) => checkOption(seat, option))
  return options
}

/** An option is what its line says, opens one's own card in its place, and is allowed. @param {Seat} of @param {Option} option */
function checkOption({ pack, hands, match: { ledger, own: { seat } } }, [kind, args, line]) {
  const read = readArgs(kind, args, pack.length)
  const { slot, card, salt, openings = [] } = read
  // nobody has signed the offer: C20 would name this seat (specification.md, 13)
  if (!ledger.allows(seat, kind, read)) throw new Malformed('an option is what the rules forbid')
  /** @type {import('./proof/records.mjs').Opening[]} */
  const opened = kind === 'play' ? [[slot, card, salt]] : openings
  const isSaid = isLine(line, kind, args, { pack, hand: hands.at(-1) ?? [] })
  // people read the line, and the kind and args are what is signed
  if (!isSaid) throw new Malformed('an option says one move and is another')
  const isOwn = opened.every(([place, index, own]) => {
    const held = hands.at(-1)?.[place]
    return held !== undefined && held[0] === index && same(held[1], own)
  })
  if (!isOwn) throw new Malformed('an option opens another card than one holds')
}
