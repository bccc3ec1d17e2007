// A table as it stands, from the messages about it: a reducer without a clock, a socket or a rule. What is told changes
// the picture at once; what the checks say is kept beside it.

import { SAID } from '../words.mjs'

const MOST_LINES = 300     // of what has happened
const LAST_OF_HAND = ['hand_won', 'hand_drawn']
/** What is open to be answered, by the fact that asks. @type {Record<string, string>} */
const ASKS = {
  stake_asked: 'stake', envido_called: 'envido', contraflor_called: 'flor', flor_declared: 'flor',
  redeal_proposed: 'redeal', last_point_asked: 'last-point'
}
/** What is answered, by the fact that says so. @type {Record<string, string>} */
const ANSWERS = {
  stake_accepted: 'stake', stake_declined: 'stake', envido_accepted: 'envido', envido_declined: 'envido',
  contraflor_accepted: 'flor', flor_folded: 'flor', redeal_granted: 'redeal', redeal_refused: 'redeal',
  last_point_taken: 'last-point', last_point_declined: 'last-point'
}
const NOTHING_ASKED = [...LAST_OF_HAND, 'conceded', 'duel_begun']     // after these nothing waits for an answer
const LAID = ['card_played', 'card_covered']
const COVER = 'cover '     // how the choice of a card that is laid face down begins

/**
 * A card that lies in a trick; null for one that is covered.
 *
 * @typedef {{ seat: number, card: string | null }} Laid
 * @typedef {{ laid: Laid[], side: number | null | undefined }} Trick its winner, null for a tie, undefined while it is played
 */

/**
 * One hand as it is played.
 *
 * @typedef {object} Hand
 * @property {number} j
 * @property {number} each how many cards every seat was dealt
 * @property {string[]} own the own cards, by slot
 * @property {string[]} gone the own ones that have been played
 * @property {import('../session/worth.mjs').Worth | null} worth of the own cards beside their strength
 * @property {{ of: number, cards: string[] } | null} partners
 * @property {string | null} up
 * @property {Trick[]} tricks
 * @property {Record<number, any>} said the newest words of each seat, as facts
 * @property {Record<number, string[]>} opened by seat
 * @property {any[]} asks the facts that wait for an answer, the newest last: it is answered first
 * @property {any[]} facts all of the hand
 */

/** @returns {Hand} */
const freshHand = (j = 0) => ({
  j, each: 0, own: [], gone: [], worth: null, partners: null, up: null, tricks: [{ laid: [], side: undefined }], said: {}, opened: {},
  asks: [], facts: []
})

/** @typedef {ReturnType<typeof freshTable>} Table */

/** @param {string} code @param {number | null} seat */
export const freshTable = (code, seat) => ({
  code, seat,
  /** @type {any} */
  shown: null,
  /** @type {(string | null)[]} */
  players: [],     // by seat, since the match began
  /** @type {string | null} */
  match: null,
  /** @type {import('../session/plain.mjs').Rules | null} */
  rules: null,
  /** @type {{ phase: string, score: number[][], paused?: boolean, waiting?: number[], dealer?: number, stake?: any, tricks?: any[] }} */
  view: { phase: 'none', score: [[0, 0, 0], [0, 0, 0]] },
  hand: freshHand(),
  /** @type {Hand | null} */
  closed: null,     // the newest that is over
  closedAt: 0,      // when that came
  next: 0,
  /** Whether the newest record was there before: all of the match is told again, or what was missed of it. @type {'whole' | 'missed' | null} */
  backlog: null,
  /** @type {{ at: number, must: boolean, list: any[], until: number | null } | null} */
  options: null,
  /** @type {{ seats: number[], what: string, until: number | null } | null} */
  waiting: null,
  /** @type {{ at: number, key: string } | null} */
  chosen: null,
  /** @type {Record<number, any>} */
  away: {},
  /** @type {any[]} */
  log: [],
  unread: 0,
  /** @type {{ checked: number, hands: number, proved: any, failed: any, kept: string | null, isWhole: boolean, isUnseenByHost: boolean }} */
  proof: { checked: 0, hands: 0, proved: null, failed: null, kept: null, isWhole: false, isUnseenByHost: false },
  /** @type {any} */
  ended: null,
  /** @type {string | null} */
  gone: null,     // why the table is closed, or the seat is lost
  /** @type {number[]} */
  paused: []      // who has asked for a pause, or for its end
})

/**
 * The table after a message about it. What is known is not told again, and what comes behind a gap changes nothing before
 * the missing records are there: whoever follows the match asks for them, and then for all that holds now. `now` is when it came, in milliseconds of whatever clock.
 *
 * @param {Table} table
 * @param {any} message
 * @param {number} now
 * @returns {Table}
 */
export function toldTable(table, message, now) {
  const until = message.deadline_ms === undefined ? null : now + message.deadline_ms
  switch (message.t) {
    case 'table': return { ...table, shown: message, players: playersAfter(table, message) }
    case 'setup': return {
      ...freshTable(table.code, table.seat), shown: table.shown, log: logBefore(table, message), match: message.match, rules: message.rules,
      players: playersIn(message, table.shown), backlog: message.isPast ? 'whole' : null
    }
    // only the next one: what is known is not told again, and behind a gap nothing is shown
    case 'record': return message.k === table.next && message.match === table.match ? toldRecord(table, message, now) : table
    // of a deal that is not told yet they come again, when what is missing does (session.md)
    case 'cards': return message.k < table.next ? toldCards(table, message) : table
    case 'options':
      if (message.at !== table.next) return table
      return { ...table, options: { at: message.at, must: message.must, list: message.list.map((/** @type {any} */ option) => shownOption(table, option)), until }, ...unchosen(table, message.at) }
    case 'waiting': {
      if (message.at !== table.next) return table
      const { seats, what = 'decision' } = message
      return { ...table, waiting: { seats, what, until } }
    }
    case 'away': return { ...table, away: awayNow(table.away, message) }
    case 'sign': return heard(table, message.from, { what: 'signed', seat: message.from, word: message.word })
    case 'said': return heard(table, message.seat, { what: 'said', seat: message.seat, phrase: message.phrase })
    case 'chat': return { ...logged(table, { chat: message }), unread: table.unread + (message.ago_ms === undefined ? 1 : 0) }
    case 'closed': return { ...table, gone: message.reason }
    case 'seat_taken_over': return { ...table, gone: 'taken_over' }
    default: return table
  }
}

/** What the checks say of it. @param {Table} table @param {any} event @returns {Table} */
export function judgedTable(table, event) {
  const { proof } = table
  switch (event.what) {
    case 'checked': return { ...table, proof: { ...proof, checked: event.k + 1, isUnseenByHost: event.isUnseenByHost } }
    case 'proved': return { ...table, proof: { ...proof, hands: event.hands, proved: event } }
    case 'kept': return { ...table, proof: { ...proof, kept: event.match, isWhole: event.isOver } }
    case 'failed': return { ...table, proof: { ...proof, failed: event }, options: null }
    default: return table
  }
}

/** Who plays: in a match whose end was missed the seats may have gone to others since, or be free. @param {any} setup @param {any} shown @returns {(string | null)[]} */
function playersIn({ names = [] }, shown) {
  const seated = shown?.seats.map((/** @type {any} */ { name = null }) => name) ?? []
  const [first, second] = shown?.state === 'playing' ? [seated, names] : [names, seated]
  return Array.from({ length: Math.max(first.length, second.length) }, (_, seat) => first[seat] ?? second[seat] ?? null)
}

// Who has left after the match is still called what they were called in it.
/** @param {Table} table @param {any} shown */
const playersAfter = ({ players, ended, match }, shown) =>
  ended !== null ? players : shown.seats.map((/** @type {any} */ { name = null }, /** @type {number} */ seat) => name ?? (match === null ? null : players[seat] ?? null))

/** A choice stands as pressed until the record comes, or it was of no use: then `key` is null. */
/** @param {Table} table @param {number} at @param {string | null} key @returns {Table} */
export const chose = (table, at, key) => table.options?.at === at ? { ...table, chosen: key === null ? null : { at, key } } : table

/** @param {Table} table @param {number} at */
const unchosen = (table, at) => ({ chosen: table.chosen?.at === at ? table.chosen : null })

/** @param {Table} table @param {any} line */
const logged = (table, line) => ({ ...table, log: [...table.log.slice(1 - MOST_LINES), line] })

/** @param {Record<number, any>} away @param {any} message */
function awayNow(away, { seat, online, missed, claim_in_ms: claim }) {
  const { [seat]: _, ...others } = away
  return online && missed === undefined ? others : { ...others, [seat]: { online, missed, claim } }
}

// A match that is sent again from its setup on is told once: of what was logged remains what no record says.
/** @param {Table} table @param {any} setup */
const logBefore = ({ log, match }, setup) => match === setup.match ? log.filter(({ fact }) => fact === undefined) : log

/** @param {Table} table @param {number} seat @param {any} words */
const heard = (table, seat, words) =>
  logged({ ...table, hand: { ...table.hand, said: { ...table.hand.said, [seat]: words } } }, { heard: words, j: table.hand.j })

/** @param {Table} table @param {any} message @param {number} now @returns {Table} */
function toldRecord(table, { k, means, isPast }, now) {
  const facts = means.filter((/** @type {any} */ { what }) => what !== 'state')
  const view = means.find((/** @type {any} */ { what }) => what === 'state') ?? table.view
  const backlog = isPast ? table.backlog ?? 'missed' : null
  /** @type {Table} */
  let after = { ...table, next: k + 1, backlog, view, options: null, waiting: null, chosen: null }
  const isLast = facts.some((/** @type {any} */ { what }) => LAST_OF_HAND.includes(what))
  const covered = table.chosen?.key.startsWith(COVER) ? table.chosen.key.slice(COVER.length) : null     // what only its owner knows
  if (covered !== null && facts.some((/** @type {any} */ { what, seat }) => what === 'card_covered' && seat === table.seat)) after = withHand(after, { gone: [...after.hand.gone, covered] })
  for (const fact of facts.map((/** @type {any} */ each) => shownFact(table, each))) after = happened(after, isLast && 'leader' in fact ? { ...fact, leader: null } : fact)
  return after.closed?.j === table.closed?.j ? after : { ...after, closedAt: backlog === 'whole' ? -Infinity : now }
}

// Where an accepted falta wins the game whichever side has it, the points that are told are those of one side alone.
/** @param {Table} table */
function isForTheGame({ rules, view }) {
  const { envido, scoring } = rules?.params ?? {}
  return envido?.falta === 'malas-game' && view.score.every(([, , points]) => points <= Math.floor(scoring.target / 2))
}

/** Whether the newest call of envido is a falta. @param {Hand} hand */
const isFaltaAsked = ({ asks }) => asks.findLast(({ answering }) => answering === 'envido')?.call === 'falta-envido'

/** @param {Table} table @param {any} option */
function shownOption(table, option) {
  const isFalta = option.kind === 'falta-envido' || (option.kind === 'accept' && 'points' in option.hints && isFaltaAsked(table.hand))
  return isFalta && isForTheGame(table) ? { ...option, hints: { ...option.hints, points: 'game' } } : option
}

/** @param {Table} table @param {any} fact */
const shownFact = (table, fact) => fact.what === 'envido_accepted' && isFaltaAsked(table.hand) && isForTheGame(table) ? { ...fact, points: 'game' } : fact

/** @param {Table} table @param {any} message @returns {Table} */
function toldCards(table, { of, cards, worth = null }) {
  const { hand } = table
  if (of !== undefined && of !== table.seat) return withHand(table, { partners: { of, cards } })
  const laid = hand.tricks.flatMap((trick) => trick.laid.filter(({ seat }) => seat === table.seat).map(({ card }) => card))
  const gone = cards.filter((/** @type {string} */ card) => laid.includes(card) || hand.gone.includes(card))
  return withHand(table, { own: cards, gone, worth })
}

/** @param {Table} table @param {Partial<Hand>} change @returns {Table} */
const withHand = (table, change) => ({ ...table, hand: { ...table.hand, ...change } })

/** @param {Table} table @param {any} fact @returns {Table} */
function happened(table, fact) {
  const told = withFact(table, fact)
  const hand = inHand(told.hand, fact)
  return logged({ ...told, hand }, { fact, j: hand.j })
}

/** What a fact changes beside the hand. @param {Table} table @param {any} fact @returns {Table} */
function withFact(table, fact) {
  switch (fact.what) {
    case 'called': return fact.cards > 0 && table.hand.j !== fact.index ? { ...table, hand: freshHand(fact.index), paused: [] } : table
    case 'cut_made': case 'tapped': return { ...table, hand: freshHand(table.hand.j) }     // the next hand begins so, before it is called
    case 'hands_opened': return { ...table, closed: { ...table.hand, opened: { ...fact.cards } } }
    case 'hand_closed': return { ...table, closed: table.hand }
    case 'match_ended': return { ...table, ended: fact }
    case 'pause_asked': case 'resume_asked': return { ...table, paused: [...table.paused.filter((seat) => seat !== fact.seat), fact.seat] }
    case 'ruled': return ['pause', 'resume'].includes(fact.ruling) ? { ...table, paused: [] } : table
    default: return table
  }
}

/** @param {Hand} hand @param {any} fact @returns {Hand} */
function inHand(hand, fact) {
  const told = { ...hand, facts: [...hand.facts, fact], asks: asksAfter(hand.asks, fact), said: saidAfter(hand.said, fact) }
  switch (fact.what) {
    case 'dealt': return { ...told, each: fact.each, own: [], gone: [], tricks: [{ laid: [], side: undefined }] }
    case 'turned_up': return { ...told, up: fact.card }
    case 'card_played': return played(told, fact.seat, fact.card)
    case 'card_covered': return played(told, fact.seat, null)
    case 'trick_won': return tricksDone(told, fact.side)
    case 'trick_tied': return tricksDone(told, null)
    case 'cards_opened': case 'cards_shown': return { ...told, opened: { ...told.opened, [fact.seat]: fact.cards } }
    default: return told
  }
}

// Flor comes before envido, and envido before an ask for the stake: that waits below until the bet is settled.
/** @param {any[]} asks @param {any} fact @returns {any[]} */
function asksAfter(asks, fact) {
  const { what, reason } = fact
  if (NOTHING_ASKED.includes(what)) return []
  const opened = ASKS[what]
  const ended = opened ?? ANSWERS[what] ?? (what === 'points_scored' ? reason : null)
  const left = asks.filter(({ answering }) => answering !== ended && !(what === 'flor_declared' && answering === 'envido'))
  return opened === undefined ? left : [...left, { ...fact, answering: opened }]
}

// What a seat has said stands until it lays a card, or the trick is over.
/** @param {Record<number, any>} said @param {any} fact @returns {Record<number, any>} */
function saidAfter(said, fact) {
  if (['dealt', 'trick_won', 'trick_tied'].includes(fact.what)) return {}
  if (fact.what in SAID || fact.what === 'value_said') return { ...said, [fact.seat]: fact }
  if (!LAID.includes(fact.what)) return said
  const { [fact.seat]: _, ...others } = said
  return others
}

/** The table without what lies there of a hand that is over, once somebody decides on the next one. @param {Table} table @param {boolean} isAwaited @returns {Table} */
export const cleared = (table, isAwaited) => isAwaited && table.view.phase === 'between' && table.closed?.j === table.hand.j ? withHand(table, freshHand(table.hand.j)) : table

/** The seats that the match waits for, as far as one may know. @param {Table} table */
export function awaited({ view, options, waiting, seat }) {
  const own = isAwaited(options) && seat !== null ? [seat] : []
  return [...new Set([...(waiting?.seats ?? view.waiting ?? []), ...own])]
}

/** Whether the hand waits for an answer to these options. @param {Table['options']} options */
export const isAwaited = (options) => options !== null && (options.must || options.list.some(({ hints }) => hints.waits))

/** Whether the own seat is to decide. @param {Table} table */
export const isMine = ({ options, chosen, proof }) => proof.failed === null && chosen === null && isAwaited(options)

/** When the time of whoever decides is over, null without a clock. @param {Table} table */
export const untilOf = ({ options, waiting }) => (isAwaited(options) ? options?.until : waiting?.until ?? options?.until) ?? null

/** The newest question that waits for an answer, null if there is none. @param {Hand} hand @returns {any} */
export const askedIn = ({ asks }) => asks.at(-1) ?? null

/** @param {Hand} hand @param {number} seat @param {string | null} card @returns {Hand} */
function played(hand, seat, card) {
  const last = /** @type {Trick} */ (hand.tricks.at(-1))
  const open = last.side === undefined ? last : { laid: [], side: undefined }
  const before = last.side === undefined ? hand.tricks.slice(0, -1) : hand.tricks
  const gone = card !== null && hand.own.includes(card) ? [...hand.gone, card] : hand.gone
  return { ...hand, gone, tricks: [...before, { ...open, laid: [...open.laid, { seat, card }] }] }
}

/** @param {Hand} hand @param {number | null} side @returns {Hand} */
const tricksDone = (hand, side) =>
  ({ ...hand, tricks: [...hand.tricks.slice(0, -1), { .../** @type {Trick} */ (hand.tricks.at(-1)), side }] })
