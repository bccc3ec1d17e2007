// A hand as its records tell it (specification, section 8): a reading, in which cards that are not known stay open; and
// at the close the same again, with every card that is known by then.

import { couldBeFlor, envidoValue } from './cards.mjs'
import { nextToSay, settled, speakers } from './contests.mjs'
import { deal } from './deals.mjs'
import { isLegal, playRuled, ruled, take } from './match.mjs'
import { allowedByOrder } from './orders.mjs'
import { provingSeats } from './shows.mjs'
import { actionOf, openOffer, scoreOf, sideOf, withHand } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Action} Action */
/** @typedef {import('./cards.mjs').Card} Card */

/**
 * What a record says that a seat does; `args` are those of its kind by name (specification, section 8).
 *
 * @typedef {{ seat: number, kind: string, args: any, isRuled: boolean }} Told
 */

const OF_A_CARD = ['play', 'cover', 'blind']

export class Reading {
  /** @param {State} start that waits for the first deal; the decisions before it need not have been told */
  constructor(start) {
    this.state = this.start = start
    /** @type {({ up: number[], ncards: number } | Told)[]} */
    this.steps = []
    /** @type {Told | null} */
    this.unseen = null     // the play of a card that is still to be opened
  }

  /** Whether cards are due: the first ones, or those of a granted redeal. */
  get awaitsDeal() {
    return this.steps.length === 0 || this.state.hand.phase === 'deal'
  }

  get isOver() {
    return this.state.hand.phase === 'over'
  }

  /** Whether cards are unknown that may change the score: by a flor that is held, or an envido that they settle. */
  get isUnsure() {
    const { rules, hand } = this.state
    if (rules.flor === null) return this.waitsForCards
    return hand.cards.some((own) => own.includes(null))
  }

  /** Whether the hand is over, and unknown cards settle a bet of it. */
  get waitsForCards() {
    return this.isOver && this.state.hand.hasOpenClaim
  }

  get score() {
    return scoreOf(this.state)
  }

  /** A deal, of which only the cards turned up are known. @param {number} ncards @param {number[]} up */
  deal(ncards, up) {
    this.steps.push({ up, ncards })
    this.state = dealt(this.state, { up, ncards }, null)
  }

  /** @param {number} seat @param {number} slot @param {number} card */
  know(seat, slot, card) {
    const { cards } = this.state.hand
    this.state = withHand(this.state, {
      cards: cards.map((own, one) => one === seat ? own.map((each, at) => at === slot ? card : each) : own)
    })
  }

  /** Whether the rules allow a seat this, as far as cards are known. @param {number} seat @param {string} kind @param {any} args */
  allows(seat, kind, args) {
    return after(this.state, { seat, kind, args, isRuled: false }) !== null
  }

  /** A seat acts: whether the rules allow it, as far as cards are known. @param {number} seat @param {string} kind @param {any} args */
  act(seat, kind, args) {
    return this.tell({ seat, kind, args, isRuled: false })
  }

  /** A ruled move: whether it is the one that is due, once its card is open. @param {number} seat @param {string} kind @param {any} args */
  rule(seat, kind, args) {
    return this.tell({ seat, kind, args, isRuled: true })
  }

  /** @param {Told} step */
  tell(step) {
    if (step.kind === 'blind') {
      this.unseen = step
      return after(this.state, step) !== null
    }
    this.steps.push(step)
    const next = after(this.state, step)
    if (next !== null) this.state = next
    return next !== null
  }

  /** The card that was played unseen is open. @param {number} card */
  see(card) {
    const step = /** @type {Told} */ (this.unseen)
    this.unseen = null
    this.know(step.seat, step.args.slot, card)
    this.steps.push(step)
    // its rules were looked at when it was played, and the replay at the close judges it with all cards
    this.state = after(this.state, step) ?? this.state
  }

  /**
   * Whether a ruling can be this, before its card is opened: the seat, the kind, the slot.
   *
   * @param {number} seat
   * @param {string} kind
   * @param {any} args
   */
  mayRule(seat, kind, args) {
    return readingsOf(this.state).some((state) => isDue(state, { seat, kind, args, isRuled: true }))
  }

  /** Whether cards that are unknown may decide if the rules allow a decision. @param {number} seat @param {string} kind */
  hangsOnCards(seat, kind) {
    const { rules, hand } = this.state
    if (this.awaitsDeal || hand.cards.every((own) => !own.includes(null))) return false
    if (this.waitsForCards) return true
    return rules.flor !== null || kind === 'points' || (hand.orders[sideOf(seat)] !== null && OF_A_CARD.includes(kind))
  }

  /** Nobody goes on with a flor that only unknown cards could continue. */
  settle() {
    this.state = settled(this.state)
  }

  /**
   * The hand again from its start: the seat whose move the rules do not allow, null where they allow all. The state it
   * comes to counts from then on.
   *
   * @param {(d: number) => Card[][] | null} cardsOf the cards of each deal, null where none is known
   * @returns {number | null}
   */
  denied(cardsOf) {
    let state = this.start
    let d = 0
    for (const step of this.steps) {
      if ('up' in step) {
        state = dealt(state, step, cardsOf(d++))
        continue
      }
      const next = after(state, step)
      if (next === null) return step.seat
      state = next
    }
    this.state = settled(state)
    return null
  }

  /** The seats that have something to prove. */
  get bound() {
    const { proven, contests } = this.state.hand
    const claimed = [...proven.map(([, one]) => one), contests].flatMap(({ claims }) => claims.map(([, target]) => target))
    return [...provingSeats(this.state), ...claimed]
  }

  /** Whether the cards that are known prove what was declared, said or claimed. */
  get isProven() {
    const { rules, hand } = this.state
    return hand.cards.every((own, seat) => {
      const known = /** @type {number[]} */ (own.filter((card) => card !== null))
      const isAll = known.length === own.length
      return [...hand.proven.map(([, one]) => one), hand.contests].every(({ flores, said, claims, owed, areSettled }) =>
        (!areSettled || owed.length === 0 || isAll) &&
        (!flores.includes(seat) || (isAll && couldBeFlor(rules, hand.up, known))) &&
        said.every(([owner, value]) => owner !== seat || (known.length > 0 && envidoValue(rules, hand.up, known) === value)) &&
        (!areSettled || claims.every(([, target]) => target !== seat || isAll || !couldBeFlor(rules, hand.up, known))))
    })
  }
}

/** @param {State} state @param {{ up: number[], ncards: number }} step @param {Card[][] | null} cards @returns {State} */
function dealt(state, { up, ncards }, cards) {
  const unknown = Array.from({ length: state.seats }, () => Array(ncards).fill(null))
  const waiting = withHand(state, { phase: 'deal', each: ncards })
  return deal(waiting, cards ?? unknown, up.length > 0 ? up : state.hand.up)
}

/** The state, and where it waits for unknown cards the one in which they decide nothing. @param {State} state @returns {State[]} */
function readingsOf(state) {
  const next = settled(state)
  return next === state ? [state] : [state, ...readingsOf(next)]
}

/** What comes of a step, or null if the rules refuse it. @param {State} state @param {Told} step @returns {State | null} */
function after(state, step) {
  const action = actionIn(state, step)
  for (const reading of readingsOf(state)) {
    if (step.isRuled ? isDue(reading, step) && keepsOrder(reading, step) : isLegal(reading, action)) {
      // the card is not open yet: the same step is taken again once it is
      const isUnseen = step.kind === 'blind' && reading.hand.cards[step.seat][step.args.slot] === null
      if (isUnseen) return reading
      return step.isRuled ? playRuled(reading, action) : take(reading, action)
    }
  }
  return null
}

/** The action of a step. @param {State} state @param {Told} step @returns {Action} */
function actionIn({ hand: { cards } }, { seat, kind, args }) {
  switch (kind) {
    case 'play': return actionOf(seat, kind, [args.card], args.ask)
    case 'show': return actionOf(seat, kind, args.openings.map((/** @type {number[]} */ [, card]) => card))
    case 'blind': return actionOf(seat, kind, [], args.slot)
    case 'cover': {
      const card = cards[seat]?.[args.slot] ?? null
      return card === null ? actionOf(seat, kind, [], args.slot) : actionOf(seat, kind, [card])
    }
    default: return actionOf(seat, kind, [], args.stake ?? args.value ?? args.seat ?? args.rank ?? args.count ?? null)
  }
}

// Which seat has to say its flor, and which slot an order allows, may hang on unknown cards.
/** @param {State} state @param {Told} step */
function isDue(state, { seat, kind, args }) {
  const due = ruled(state)
  if (due === null || due.kind !== kind) return false
  const offer = openOffer(state)
  const seats = offer?.what === 'flor' ? speakers(state, offer.waiting)
    : offer?.what === 'saying' ? nextToSay(state, offer) : [due.seat]
  if (!seats.includes(seat)) return false
  if (kind !== 'play' && kind !== 'blind') return due.value === (args.count ?? null)
  const slots = state.hand.row.left[seat]
  // with an order in force any slot may be the lowest one that obeys, until its card is open
  const isFree = state.hand.orders[sideOf(seat)] !== null && slots.some((slot) => state.hand.cards[seat][slot] === null)
  const lowest = slots.find((slot) => allowedByOrder(state, seat, state.hand.cards[seat][slot]))
  return (args.ask ?? null) === null && (isFree ? slots.includes(args.slot) : args.slot === lowest)
}

/** Whether a ruled card is the lowest that the order allows, now that it is open. @param {State} state @param {Told} step */
function keepsOrder(state, { seat, kind, args }) {
  if (kind !== 'play') return true
  const { cards, row } = state.hand
  const lower = row.left[seat].filter((slot) => slot < args.slot && cards[seat][slot] !== null)
  return allowedByOrder(state, seat, args.card) && lower.every((slot) => !allowedByOrder(state, seat, cards[seat][slot]))
}
