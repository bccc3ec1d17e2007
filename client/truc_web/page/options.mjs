// What may be agreed on for a new table (docs/protocol/options.md): values to choose from, for a game as its rule document
// has it. What is as usual is not sent.

/** @typedef {number | string} Value */
/** @typedef {{ name: string, values: Value[], usual: Value | null, isMore: boolean }} Choice `usual` null where it has no name here */
/** @typedef {Record<string, Value>} Options */
/** @typedef {import('./session/plain.mjs').Rules} Rules */

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE
const POINTS = [6, 9, 12, 15, 18, 24, 30, 40]
const TRUTS = [1, 3, 5, 7, 9]
const SWITCH = ['on', 'off']
const LATE = 23     // 20 seconds

/** The times for a decision that are offered, with what a seat has in reserve. @type {Record<string, Options>} */
export const CLOCKS = {
  quick: { decision_ms: 10 * SECOND, bank_ms: 30 * SECOND },
  easy: { decision_ms: MINUTE, bank_ms: 10 * MINUTE },
  day: { decision_ms: DAY, bank_ms: 0, release_ms: DAY },
  none: { decision_ms: 0, bank_ms: 0 }
}

/** House rules: where a game has a place for them, and what it has there. */
/** @type {{ name: string, values: Value[], isPossible?: (p: any, seats: number) => boolean, usual: (p: any) => Value }[]} */
const HOUSE = [
  { name: 'match', values: [1, 3, 5], usual: ({ match }) => match },
  { name: 'flor', values: SWITCH, isPossible: ({ envido }) => envido !== null, usual: ({ flor }) => flor === null ? 'off' : 'on' },
  { name: 'falta', values: ['leader', 'malas-game', 'malas-15'], isPossible: ({ envido }) => envido !== null, usual: ({ envido }) => envido.falta },
  { name: 'fold_bonus', values: [0, 1], isPossible: ({ envido }) => envido !== null, usual: ({ envido }) => envido.fold_bonus },
  { name: 'pica', values: SWITCH, isPossible: ({ envido }, seats) => envido !== null && seats === 6, usual: ({ pica }) => pica === null ? 'off' : 'on' },
  { name: 'ladder', values: ['x2', '+2', 'any'], isPossible: ({ ladder, alternate }) => !Array.isArray(ladder) && alternate === 'no', usual: ({ ladder }) => ladder },
  { name: 'redeals', values: [0, 1, 2, 'pack'], isPossible: ({ redeal }) => redeal !== null, usual: ({ redeal }) => redeal.max },
  { name: 'cover_from_trick', values: [0, 2], isPossible: ({ last_point: last }) => last?.share === true, usual: (p) => p.cover_from_trick },
  { name: 'blind', values: SWITCH, isPossible: ({ last_point: last }) => last?.share === true, usual: ({ blind }) => blind ? 'on' : 'off' },
  { name: 'signals', values: ['off', 'partner', 'table'], isPossible: ({ signals }, seats) => signals !== null && seats > 2, usual: ({ signals }) => signals.visible_to },
  { name: 'show', values: ['owner', 'none'], isPossible: ({ show }) => show !== 'none', usual: ({ show }) => show },
  { name: 'reveal', values: ['hand', 'match'], usual: ({ reveal }) => reveal },
  { name: 'end_check', values: ['immediate', 'hand_end'], usual: ({ scoring }) => scoring.end_check }
]

/**
 * What can be chosen, in the order it is shown.
 *
 * @param {Rules | null} rules of the game without any option; null while they are not known
 * @param {number} seats
 * @returns {Choice[]}
 */
export function choicesOf(rules, seats) {
  const terms = [
    { name: 'spectators', values: [0, 1, 2, LATE], usual: null, isMore: false }, { name: 'transcript', values: ['seats', 'watchers', 'all'], usual: 'seats', isMore: false },
    { name: 'guests', values: [0, seats], usual: null, isMore: true }, { name: 'gone', values: [0, 1, 2], usual: null, isMore: true }
  ]
  if (rules === null) return terms
  const { params } = rules
  const house = HOUSE.filter(({ isPossible }) => isPossible?.(params, seats) ?? true).map(({ name, values, usual }) => {
    const is = usual(params)
    return { name, values, usual: values.includes(is) ? is : null, isMore: true }
  })
  return [targetOf(params), ...terms, ...house]
}

/** @param {any} params @returns {Choice} */
function targetOf({ scoring: { target, points_per_unit: perUnit } }) {
  const values = perUnit > 0 ? TRUTS : POINTS
  return { name: 'target', values: [...new Set([...values, target])].sort((a, b) => a - b), usual: target, isMore: false }
}

const MOST_SEALED = 104     // cards of a pack whose mask fits a message
/** What the players have no say in where they deal: nobody plays as a guest, and each hand is opened when it is over. */
const OF_THE_SERVER = ['guests', 'reveal', 'flor', 'show']

/**
 * Why the players cannot deal a game among themselves, with these options; null if they can.
 *
 * @param {Rules | null} rules
 * @param {Options} options
 * @returns {'flor' | 'truth' | 'reveal' | 'pack' | null}
 */
export function whyDealt(rules, options) {
  if (rules === null) return null
  const { pack, params: { flor, signals, reveal } } = rules
  if ((options.flor ?? (flor === null ? 'off' : 'on')) === 'on') return 'flor'
  if (signals !== null && signals.truth !== 'free') return 'truth'
  if ((options.reveal ?? reveal) !== 'hand') return 'reveal'
  return pack.length > MOST_SEALED ? 'pack' : null
}

/** Options of a table where the players deal. @param {Options} options @returns {Options} */
export function dealtByPlayers({ guests: _, ...options }) {
  return { ...options, mode: 'blind' }
}

/** The choices that remain there. @param {Choice[]} choices */
export const choicesOfPlayers = (choices) => choices.filter(({ name }) => !OF_THE_SERVER.includes(name))

/** Options after a choice: what is as usual is left out. @param {Options} options @param {Choice} choice @param {Value | null} value null for as usual @returns {Options} */
export function chosen(options, { name, usual }, value) {
  const { [name]: _, ...others } = options
  return value === null || value === usual ? others : { ...others, [name]: value }
}

/** The clock of some options: its name, '' as usual. @param {Options} options */
export const clockOf = (options) => Object.keys(CLOCKS).find((name) => CLOCKS[name].decision_ms === options.decision_ms) ?? ''

/** Options with another clock. @param {Options} options @param {string} clock @returns {Options} */
export function withClock(options, clock) {
  const { decision_ms: _, bank_ms: __, release_ms: ___, ...others } = options
  return { ...others, ...CLOCKS[clock] }
}

/**
 * The four kinds of table that are one press away.
 *
 * @param {Rules | null} rules
 * @returns {Record<string, { options: Options, isPrivate: boolean }>}
 */
export function presetsOf(rules) {
  const { target = 0, points_per_unit: perUnit = 0 } = rules?.params.scoring ?? {}
  const short = perUnit > 0 ? 3 : Math.ceil(target / 2)
  return {
    usual: { options: {}, isPrivate: false },
    quick: { options: { ...(short > 0 && short < target && { target: short }), ...CLOCKS.quick }, isPrivate: false },
    friends: { options: { ...CLOCKS.easy, spectators: 0 }, isPrivate: true },
    slow: { options: { ...CLOCKS.day, gone: 2 }, isPrivate: true }
  }
}

/** Which of the four it is, '' if none. @param {Rules | null} rules @param {Options} options @param {boolean} isPrivate */
export function presetOf(rules, options, isPrivate) {
  const plain = (/** @type {Options} */ given) => JSON.stringify(Object.entries(given).sort())
  return Object.entries(presetsOf(rules)).find(([, preset]) => preset.isPrivate === isPrivate && plain(preset.options) === plain(options))?.[0] ?? ''
}
