// What the table shows of a state, as plain values: no element, no event. Everything is seen from the own seat; a watcher
// sees it from seat 0.

import { ARMED, bySlot, optionOfCard, slotOf, slotsOf } from '../state/slots.mjs'
import { askedIn, awaited, isAwaited, isMine } from '../state/table.mjs'
import { capital } from '../words.mjs'

const SHORT_NAME = 18
/** What the players' programs do, by what the match waits for. @type {Record<string, string>} */
const STEPS = { mask: 'dealing', lock: 'dealing', keys: 'dealing', opening: 'opening' }

/** @typedef {import('../state/table.mjs').Table} Table */
/** @typedef {import('../words.mjs').Speech} Speech */

/** Where the others sit, by how many seats after the own one they play. @type {Record<number, string[]>} */
const PLACES = { 2: ['s', 'n'], 4: ['s', 'e', 'n', 'w'], 6: ['s', 'e', 'ne', 'n', 'nw', 'w'] }
/** @type {Record<string, string>} */
const MIRRORED = { e: 'w', w: 'e', ne: 'nw', nw: 'ne' }

/** The seat from which the table is seen. @param {Table} table */
export const bottomOf = ({ seat }) => seat ?? 0

/** @param {Table} table @param {Speech} speech @returns {string[]} */
export function namesOf({ shown, players }, speech) {
  const seats = players.length > 0 ? players : Array.from({ length: shown?.n ?? 2 }, () => null)
  return seats.map((name, seat) => (name ?? speech.say('said.seat', { n: seat })).slice(0, SHORT_NAME))
}

/** @param {Table} table @param {number} seat @param {Speech} speech */
export function placeOf(table, seat, speech) {
  const n = table.shown?.n ?? 2
  const place = PLACES[n][((seat - bottomOf(table)) % n + n) % n]     // while the table is not known the own seat may be beyond it
  return speech.local.next_sits === 'left' ? MIRRORED[place] ?? place : place
}

/** 'us' or 'them', as the bottom sees it. @param {Table} table @param {number} seat */
export const sideOf = (table, seat) => (seat - bottomOf(table)) % 2 === 0 ? 'us' : 'them'

/** The only other player, null where there are more. @param {Table} table @param {string[]} names */
const rivalOf = ({ seat }, names) => seat !== null && names.length === 2 ? names[1 - seat] : null

/** How cards are drawn and named. @param {Speech} speech @param {boolean} isFour */
export function packOf(speech, isFour) {
  const { isFrench } = speech
  const { letters } = speech.catalogue
  const nameOf = (/** @type {string} */ card) => card === '' ? speech.say('cards.face_down') : speech.cardName(card)
  return { isFrench, isFour, letters, nameOf }
}

/** How the match is scored. @param {Table} table */
export function goalOf({ rules, shown }) {
  const { target = shown?.options?.target ?? 0, points_per_unit: perUnit = 0 } = rules?.params.scoring ?? {}
  return { target, perUnit, games: rules?.params.match ?? 1, opts: shown?.opts ?? [] }
}

/**
 * A side's score: in a game of units their number counts, and the points towards the next one are beside it.
 *
 * @param {Table} table
 * @param {number} side
 * @param {Speech} speech
 */
export function scoreOf(table, side, speech) {
  const { target, perUnit, games } = goalOf(table)
  const [won = 0, upper = 0, points = 0] = table.view.score[side] ?? []
  const isByUnits = perUnit > 0
  const notes = [
    isByUnits ? speech.counted('point', points) : speech.half(points, target),
    games > 1 ? speech.counted('game', won) : ''
  ].filter(Boolean)
  return { points: isByUnits ? upper : points, target, half: speech.local.halves ? Math.floor(target / 2) : 0, notes }
}

/** How many cards a seat still holds. @param {Table} table @param {number} seat */
export function heldBy({ hand }, seat) {
  const laid = hand.tricks.reduce((sum, { laid: cards }) => sum + cards.filter((one) => one.seat === seat).length, 0)
  return Math.max(0, hand.each - laid)
}

/**
 * The own cards in their slots: what is left of them, with what a press would do.
 *
 * @param {Table} table
 * @param {string | null} armed
 */
export function ownCards(table, armed) {
  const { hand, options, chosen } = table
  const list = options?.list ?? []
  const isBlind = list.some(({ kind }) => kind === 'blind')
  const cards = isBlind ? Array.from({ length: hand.each }, () => null) : hand.own
  return cards.map((name, place) => {
    const option = chosen === null ? optionOfCard(list, name, place, armed) : null
    const isUp = chosen !== null && chosen.key.split(' ')[1] === (name ?? String(place)) && /^(play|cover|blind) /.test(chosen.key)
    return { name, place, option, isUp, isGone: name !== null && hand.gone.includes(name) }
  }).filter(({ isGone, name, option }) => !isGone && (name !== null || option !== null))
}

/** What the newest question is about: what accept and decline answer. @param {Table} table */
export function answeringOf({ hand, options }) {
  const asked = askedIn(hand)
  if (asked === null) return ''
  // to take the remainder one says it oneself (rules.md 5): no option accepts it
  const isTake = options?.list.some(({ key, hints }) => key === 'raise rest' && 'stake' in hints && !('declined' in hints))
  return asked.answering === 'stake' && asked.stake === 'rest' && isTake ? 'rest' : asked.answering
}

/**
 * The slots as buttons.
 *
 * @param {Table} table
 * @param {Speech} speech
 * @param {string | null} armed
 */
export function buttonsOf(table, speech, armed) {
  if (table.rules === null) return []
  const names = namesOf(table, speech)
  const found = bySlot(table.options?.list ?? [])
  const answering = answeringOf(table)
  const rival = rivalOf(table, names)
  return slotsOf(table.rules.params, names.length).map((slot) => {
    const options = found.get(slot.id) ?? []
    const [first] = options
    const said = first !== undefined ? speech.move(first, answering, names, rival) : { ...speech.move({ key: keyOf(slot.id, table), kind: slot.id, hints: {} }, '', names), cost: '' }
    const isChoice = options.length > 1
    const isPlain = !said.isOwn && speech.moveKey(first?.key ?? keyOf(slot.id, table), first === undefined ? '' : answering) === slot.id
    return {
      ...slot, options, isPossible: options.length > 0 && table.chosen === null, isArmed: armed === slot.id, isArming: ARMED.includes(slot.id),
      word: isChoice || isPlain || (first === undefined && !said.isOwn) ? slotWord(isChoice && first.kind in speech.catalogue.slots ? first.kind : slot.id, said.word, speech) : said.word,
      isOwn: said.isOwn && !isChoice, gloss: isChoice ? '' : first?.kind === 'claim' ? names[Number(first.key.split(' ')[1])] : said.cost || said.gloss, letter: speech.say(`keys.${slot.id}`),
      isPressed: options.some(({ key }) => key === table.chosen?.key),
      title: speech.meaning(first?.key ?? keyOf(slot.id, table), answering, first?.hints)
    }
  })
}

/** What a slot is called whatever is in it, where it has such a name. @param {string} id @param {string} word @param {Speech} speech */
const slotWord = (id, word, speech) => id in speech.catalogue.slots ? speech.say(`slots.${id}`) : word

/** A line that stands for a slot with no option in it: of the raise the one that comes next. @param {string} id @param {Table} table */
function keyOf(id, { rules, view }) {
  const { ladder } = rules?.params ?? {}
  const next = Array.isArray(ladder) ? ladder[Math.min(ladder.indexOf(view.stake) + 1, ladder.length - 1)] : null
  return { 'raise-rest': 'raise rest', 'play-raise': 'raise', raise: next === null ? 'raise' : `raise ${next}` }[id] ?? id
}

/**
 * The line above the buttons: what is asked, or whom the match waits for.
 *
 * @param {Table} table
 * @param {Speech} speech
 * @param {string | null} [armed] the slot that waits for a card
 * @returns {{ strong: string, more: string }}
 */
export function askOf(table, speech, armed = null) {
  const { view, hand, options, shown, proof, gone, ended, seat } = table
  const names = namesOf(table, speech)
  if (proof.failed !== null) return { strong: speech.say('page.stopped'), more: '' }
  if (gone !== null) return { strong: gone === 'taken_over' ? speech.say('screen.taken_over') : speech.say('screen.closed', { reason: speech.say(`closed.${gone}`) }), more: '' }
  if (ended !== null) return { strong: `${speech.tellFirst(ended, names) ?? ''}.`, more: '' }
  if (shown === null || view.phase === 'none') return beforeMatch(table, speech, names)
  if (view.paused) return { strong: speech.say('page.resting'), more: '' }
  const declined = options?.list.find(({ kind }) => kind === 'decline')
  const asked = askedIn(hand)
  const isQuestion = options?.list.some((each) => ['accept', 'decline'].includes(slotOf(each) ?? ''))     // not where a flor is only declared
  if (asked !== null && options !== null && isAwaited(options) && isQuestion) {
    return { strong: `${speech.tellFirst(asked, names) ?? ''}.`, more: declined && 'loses' in declined.hints ? speech.say('page.if_declined', { they_score: speech.move(declined, '', names, rivalOf(table, names)).cost }) : '' }
  }
  if (isMine(table)) return { strong: `${capital(speech.say('page.your_turn'))}.`, more: armed !== null ? speech.say('page.with_card') : isLeading(table) ? speech.say('page.you_lead') : '' }
  if (table.chosen !== null) return { strong: speech.say('page.sent'), more: '' }
  const others = awaited(table).filter((each) => each !== seat)
  const step = table.waiting === null ? undefined : STEPS[table.waiting.what]
  if (step !== undefined) return { strong: '', more: [speech.say(`sealed.${step}`), others.length > 0 && speech.say('page.waits_for', { names: speech.joined(others.map((each) => names[each])) })].filter(Boolean).join(' ') }
  if (others.length > 0) return { strong: '', more: speech.say('page.waits_for', { names: speech.joined(others.map((each) => names[each])) }) }
  const last = table.closed?.facts.findLast((/** @type {any} */ { what }) => ['hand_won', 'hand_drawn'].includes(what))
  return last && view.phase !== 'hand' ? { strong: `${speech.tellFirst(last, names) ?? ''}.`, more: '' } : { strong: '', more: '' }
}

// Whether a card of one's own would be the first of its trick.
/** @param {Table} table */
function isLeading({ hand, options }) {
  const last = hand.tricks.at(-1)
  return (last === undefined || last.side !== undefined || last.laid.length === 0) && options?.list.some(({ kind }) => kind === 'play') === true
}

/** @param {Table} table @param {Speech} speech @param {string[]} names */
function beforeMatch({ shown, seat }, speech, names) {
  if (shown === null) return { strong: '', more: speech.say('page.connecting') }
  const taken = shown.seats.filter((/** @type {any} */ { kind }) => kind !== 'empty').length
  if (taken < shown.n) return { strong: speech.say('page.waiting_for_players'), more: speech.say('page.seats_taken', { taken, seats: shown.n }) }
  const missing = shown.seats.filter((/** @type {any} */ { ready }) => !ready).map((/** @type {any} */ each) => names[each.seat])
  if (seat !== null && shown.seats[seat].ready === false) return { strong: speech.say('page.ready_question'), more: '' }
  return { strong: '', more: missing.length > 0 ? speech.say('page.waits_for', { names: speech.joined(missing) }) : speech.say('page.begins') }
}


/**
 * What is said in a bubble over each seat, by seat.
 *
 * @param {Table} table
 * @param {Speech} speech
 */
export function bubblesOf(table, speech) {
  const names = namesOf(table, speech)
  const asked = askedIn(table.hand)
  const said = asked !== null && 'seat' in asked ? { ...table.hand.said, [asked.seat]: asked } : table.hand.said
  return Object.entries(said).map(([seat, fact]) => ({ seat: Number(seat), ...bubbleOf(fact, speech, names, asked) }))
    .filter(({ word }) => word !== '')
}

/** @param {any} fact @param {Speech} speech @param {string[]} names @param {any} asked */
function bubbleOf(fact, speech, names, asked) {
  if (fact.what === 'signed') {
    const { word, gesture } = speech.sign(fact.word)
    return { word, gloss: gesture || speech.say('page.sign_to_you'), isCall: false }
  }
  if (fact.what === 'said') {
    const { word, meaning } = speech.phrase(fact.phrase)
    return { word, gloss: meaning, isCall: false }
  }
  if (fact.what === 'value_said') return { word: String(fact.value), gloss: '', isCall: false }
  const word = speech.bubble(fact, names)
  if (word === null) return { word: '', gloss: '', isCall: false }
  const isOpen = asked !== null && asked.what === fact.what && asked.seat === fact.seat
  const plain = speech.tell(fact, names) ?? ''
  const tongue = speech.said(fact) === null ? speech.catalogue.lang : speech.tongue     // where the game has no word of its own
  return { word: isOpen ? exclaimed(word, tongue) : word, gloss: isOpen ? plain.replace(/ \([^)]*\)$/, '') : '', isCall: isOpen }
}

/** A call as it is called out. @param {string} word @param {string} tongue */
const exclaimed = (word, tongue) => /[?!]$/.test(word) ? capital(word) : `${tongue === 'es' ? '¡' : ''}${capital(word)}${tongue === 'fr' ? ' !' : '!'}`

/**
 * The order of the cards, strongest first, with those that are held now.
 *
 * @param {Table} table
 * @returns {{ name: string, isHeld: boolean }[]}
 */
export function orderOf({ rules, hand }) {
  if (rules === null) return []
  const { order, turnup } = rules.params
  const held = hand.own.filter((card) => !hand.gone.includes(card))
  const raised = turnup === null || hand.up === null ? [] : raisedBy(turnup, hand.up)
  const isWhole = (/** @type {string} */ rank) => turnup?.cycle !== undefined && raised.some((card) => card.slice(0, -1) === rank)
  const entries = [...raised, ...order.filter((/** @type {string} */ each) => !raised.includes(each) && !isWhole(each))]
  const single = new Set(entries.flatMap((/** @type {string} */ each) => each.split(' ')))
  const isHeld = (/** @type {string} */ entry) => held.some((card) => entry.split(' ').some((each) => each === card || (each === card.slice(0, -1) && !single.has(card))))
  return entries.map((/** @type {string} */ name) => ({ name, isHeld: isHeld(name) }))
}

/** The cards that the one turned up raises, strongest first: a whole rank, or pieces of its suit. @param {any} turnup @param {string} up @returns {string[]} */
function raisedBy({ cycle, suits, pieces, stand_in: standIn }, up) {
  const [rank, suit] = [up.slice(0, -1), up.slice(-1)]
  if (cycle !== undefined) return suits.map((/** @type {string} */ one) => next(cycle, rank) + one)
  return pieces.filter((/** @type {string} */ piece) => piece !== rank || standIn).map((/** @type {string} */ piece) => (piece === rank ? standIn : piece) + suit)
}

/**
 * What a card does to the trick as it stands: null where nothing is laid, or its place is not known.
 *
 * @param {Table} table
 * @param {string} name
 * @returns {'beats' | 'ties' | 'falls' | null}
 */
export function effectOf(table, name) {
  const trick = table.hand.tricks.at(-1)
  if (trick === undefined || trick.side !== undefined) return null
  const laid = trick.laid.filter(({ seat, card }) => card !== null && sideOf(table, seat) === 'them').map(({ card }) => rankOf(table, /** @type {string} */ (card)))
  const best = Math.min(...laid)
  const own = rankOf(table, name)
  if (laid.length === 0 || own < 0) return null
  return own < best ? 'beats' : own === best ? 'ties' : 'falls'
}

/** The place of a card among all, the strongest first. @param {Table} table @param {string} card */
function rankOf(table, card) {
  const entries = orderOf(table).map(({ name }) => name.split(' '))
  const alone = entries.findIndex((names) => names.includes(card))
  return alone >= 0 ? alone : entries.findIndex((names) => names.includes(card.slice(0, -1)))
}

/** @param {string[]} cycle @param {string} rank */
const next = (cycle, rank) => cycle[(cycle.indexOf(rank) + 1) % cycle.length]

/** How the badge stands. @param {Table} table @param {boolean} isKeyed @returns {{ how: 'ok' | 'busy' | 'none' | 'bad', text: string }} */
export function badgeOf({ proof, next, seat, shown, view }, isKeyed, /** @type {Speech} */ speech) {
  if (proof.failed !== null) return { how: 'bad', text: speech.say('proof.stopped') }
  if (seat !== null && !isKeyed) return { how: 'none', text: speech.say('proof.guest') }
  const isPartly = shown?.seats.some((/** @type {any} */ { kind }) => kind === 'guest')
  if (proof.checked < next || (proof.hands === 0 && view.phase !== 'ended')) return { how: 'busy', text: speech.say('proof.checking') }
  if (isPartly) return { how: 'none', text: speech.say('proof.partly') }
  if (proof.isUnseenByHost) return { how: 'ok', text: speech.say('sealed.badge') }
  return { how: 'ok', text: speech.say(speech.catalogue.singular.includes(proof.hands) ? 'proof.one_hand' : 'proof.hands', { n: proof.hands }) }
}
