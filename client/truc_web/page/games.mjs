// Which games belong together: a server has some thirty, of a dozen families; a family is offered as one, by its first.

/** A family as it is shown: two cards that its players know, their pack, and the tongue it is played in. */
/** @typedef {{ cards: [string, string], isFrench: boolean, tongue: string }} Look */

/** By the name of the first game, those that most people play first. @type {Record<string, Look>} */
const FAMILIES = {
  'truco-argentino': { cards: ['1e', '7o'], isFrench: false, tongue: 'es' },
  'truco-paulista': { cards: ['3c', 'Kh'], isFrench: true, tongue: 'pt' },
  'truc-catalan': { cards: ['3b', '1o'], isFrench: false, tongue: 'ca' },
  'truc-french': { cards: ['7d', 'Ks'], isFrench: true, tongue: 'fr' },
  'truco-mineiro': { cards: ['4c', '7h'], isFrench: true, tongue: 'pt' },
  'truco-uruguayo': { cards: ['2o', '4e'], isFrench: false, tongue: 'es' },
  'truco-gauderio': { cards: ['1b', '1e'], isFrench: false, tongue: 'pt' },
  'truco-venezolano': { cards: ['1e', '12b'], isFrench: false, tongue: 'es' },
  'truc-valencia': { cards: ['1b', '3e'], isFrench: false, tongue: 'ca' },
  'truc-lanes': { cards: ['7s', '8d'], isFrench: true, tongue: 'fr' },
  trut: { cards: ['7h', '8s'], isFrench: true, tongue: 'fr' },
  'le-truc': { cards: ['As', 'Kd'], isFrench: true, tongue: '' },
  put: { cards: ['3s', '2h'], isFrench: true, tongue: '' }
}
/** Games whose names do not begin as that of their family. @type {Record<string, string>} */
const ELSEWHERE = { 'truc-sackson': 'truc-french', 'truc-partnership': 'truc-french' }
/** @type {Look} */
const UNKNOWN = { cards: ['1o', '1e'], isFrench: false, tongue: '' }

/** @param {string} variant the family it belongs to; a game of the host's own is one itself */
export function familyOf(variant) {
  const found = Object.keys(FAMILIES).find((name) => variant === name || variant.startsWith(`${name}-`))
  return ELSEWHERE[variant] ?? found ?? variant
}

/** @param {string} family @returns {Look} */
export const lookOf = (family) => FAMILIES[family] ?? UNKNOWN

/**
 * A game as a server offers it, and a family of them.
 *
 * @typedef {{ name: string, seats: number[] }} Offer
 * @typedef {{ name: string, forms: Offer[] }} Family
 */

/**
 * What a server offers, by family: the one played last first, then those of the reader's tongue.
 *
 * @param {Offer[]} offers
 * @param {{ tongue: string, last: string | null }} reader
 * @returns {Family[]}
 */
export function familiesOf(offers, { tongue, last }) {
  const found = [...new Set(offers.map(({ name }) => familyOf(name)))]
  const known = Object.keys(FAMILIES)
  const place = (/** @type {string} */ name) => [name === last ? 0 : 1, lookOf(name).tongue === tongue ? 0 : 1, known.includes(name) ? known.indexOf(name) : known.length]
  found.sort((a, b) => compare(place(a), place(b)))
  return found.map((name) => ({ name, forms: offers.filter((offer) => familyOf(offer.name) === name) }))
}

/** @param {number[]} a @param {number[]} b */
function compare(a, b) {
  const at = a.findIndex((each, i) => each !== b[i])
  return at < 0 ? 0 : a[at] - b[at]
}

/**
 * A way to play: a game, and how many sit down to it.
 *
 * @typedef {{ variant: string, seats: number }} Way
 */

/** How a family is played if nothing else is said: as the last time, else by its first game with the fewest seats. */
/** @param {Family} family @param {Way | null} usual @returns {Way} */
export function wayOf({ forms }, usual) {
  const isOffered = usual !== null && forms.some(({ name, seats }) => name === usual.variant && seats.includes(usual.seats))
  return isOffered ? usual : { variant: forms[0].name, seats: Math.min(...forms[0].seats) }
}
