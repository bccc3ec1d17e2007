// Where a move has its place: a slot for each kind of move that the game has, in one order for the whole match. What is
// not possible stays in its slot, dimmed. Kinds that are never open together share one: whoever says yes, says points or
// keeps the cards presses in the same place. The cards are no slots: they are played where they lie.

/**
 * @typedef {'yes' | 'no' | 'raise' | 'plain'} Tone
 * @typedef {{ id: string, tone: Tone }} Slot
 */

/** @type {(id: string, tone: Tone) => Slot} */
const slot = (id, tone) => ({ id, tone })

/** What is played from the own cards. */
const CARD_KINDS = ['play', 'cover', 'blind']

/**
 * The slots of a game, for this many seats.
 *
 * @param {any} params of its rule document
 * @param {number} seats
 * @returns {Slot[]}
 */
export function slotsOf(params, seats) {
  const { envido, flor } = params
  const hasValues = Boolean(envido || flor)
  return [
    slot('accept', 'yes'),
    slot('decline', 'no'),
    params.short_deal && slot('cut', 'plain'),
    params.short_deal && slot('tap', 'plain'),
    params.redeal !== null && slot('redeal', 'raise'),
    envido && slot('envido', 'raise'),
    envido?.max_real > 0 && slot('real-envido', 'raise'),
    envido && slot('falta-envido', 'raise'),
    flor && slot('flor', 'raise'),
    slot('raise', 'raise'),
    params.remainder !== 'none' && slot('raise-rest', 'raise'),
    params.accept === 'implicit' && slot('play-raise', 'raise'),
    params.cover_from_trick > 0 && slot('cover', 'plain'),
    hasValues && seats > 2 && slot('silent', 'plain'),
    flor?.claims && slot('claim', 'plain'),
    params.signals?.orders === 'binding' && slot('order', 'plain'),
    params.show === 'owner' && slot('show', 'plain'),
    params.concede !== 'vs_ask' && slot('concede', 'plain')
  ].filter((each) => Boolean(each))
}

/** The slots that kinds share, by kind. @type {Record<string, string>} */
const SHARED = {
  points: 'accept', stand: 'accept', good: 'decline', 'flor-fold': 'decline', deal: 'cut', contraflor: 'flor', 'contraflor-rest': 'flor'
}

/** Which slot an option belongs to; null for the cards. @param {{ kind: string, key: string }} option @returns {string | null} */
export function slotOf({ kind, key }) {
  if (kind === 'raise') return key === 'raise rest' ? 'raise-rest' : 'raise'
  if (kind === 'play') return key.includes(' raise ') ? 'play-raise' : null
  if (kind === 'cover') return 'cover'
  return CARD_KINDS.includes(kind) ? null : SHARED[kind] ?? kind
}

/**
 * The options by slot: `armed` slots change what a card that is pressed does, all others are pressed themselves.
 *
 * @param {any[]} list
 * @returns {Map<string, any[]>}
 */
export function bySlot(list) {
  const slots = new Map()
  for (const option of list) {
    const id = slotOf(option)
    if (id !== null) slots.set(id, [...slots.get(id) ?? [], option])
  }
  return slots
}

/** The slots that are armed first, and then played with a card. */
export const ARMED = ['play-raise', 'cover']

/**
 * The option that a card stands for, as the slots are armed; null if it cannot be played so.
 *
 * @param {any[]} list
 * @param {string | null} card its name, null for one that nobody has seen
 * @param {number} place its slot
 * @param {string | null} armed
 */
export function optionOfCard(list, card, place, armed) {
  const isIt = (/** @type {any} */ { kind, key }) => {
    if (kind === 'blind') return key === `blind ${place}`
    if (armed === 'cover') return kind === 'cover' && key === `cover ${card}`
    if (armed === 'play-raise') return kind === 'play' && key.startsWith(`play ${card} raise `)
    return kind === 'play' && key === `play ${card}`
  }
  return list.find(isIt) ?? null
}
