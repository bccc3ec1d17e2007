// What the own cards are worth beside their strength. The rules are loaded when a game first asks for them.

import { decode } from '../../lib/proof/encoding.mjs'

/** @typedef {{ envido: number | null, flor: number | null }} Worth flor: null where the cards are none */

/**
 * @param {Uint8Array} doc the rule document
 * @param {number[]} up the cards turned up
 * @param {string[]} names the own cards
 * @returns {Promise<Worth | null>} null in games without such a contest
 */
export async function worthOf(doc, up, names) {
  const { envidoValue, florValue, isFlor, readRules } = await import('../../lib/rules/index.mjs')
  const rules = readRules(decode(doc))
  if (rules.envido === null && rules.flor === null) return null
  const cards = names.map((name) => rules.pack.indexOf(name))
  return {
    envido: rules.envido === null ? null : envidoValue(rules, up, cards),
    flor: rules.flor !== null && isFlor(rules, up, cards) ? florValue(rules, up, cards) : null
  }
}
