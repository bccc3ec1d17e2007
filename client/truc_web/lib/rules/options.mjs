// What a seat may do whatever the cards are that it does not see, and the figures that stand beside it (the hints of
// docs/protocol/play.md).

import { declinedPoints, faltas, hasFlor, openEnvido, settled, sumOf } from './contests.mjs'
import { deciders, legal } from './match.mjs'
import { moveLine } from './moves.mjs'
import { answered, openOffer } from './state.mjs'

/** @typedef {import('./state.mjs').State} State */
/** @typedef {import('./state.mjs').Action} Action */
/** @typedef {import('./state.mjs').Offer} Offer */
/** @typedef {[name: string, value: number | string][]} Hints */

const CALLS = ['envido', 'real-envido', 'falta-envido']

/** The state in which a flor that only unknown cards could make is taken not to exist. @param {State} state @returns {State} */
function allSettled(state) {
  const next = settled(state)
  return next === state ? state : allSettled(next)
}

/**
 * What a seat may do for certain, and the state in which it may. `awaited` are the seats for which, as everybody is told, the
 * hand waits: a seat is not awaited before it is known that nobody has to say a flor first.
 *
 * @param {State} state with the seat's own cards
 * @param {number} seat
 * @param {number[]} awaited
 * @returns {{ here: State, actions: Action[] }}
 */
export function surelyLegal(state, seat, awaited) {
  if (awaited.includes(seat)) {
    const here = allSettled(state)
    return { here, actions: unclaimed(here, legal(withoutUnheard(here), seat)) }
  }
  const offer = openOffer(state)
  if (holders(state).includes(seat)) {
    const isHidden = offer?.what === 'flor' || offer?.what === 'contraflor'     // nobody else can tell that it is waited for
    return { here: state, actions: isHidden ? legal(state, seat) : [] }
  }
  if (state.rules.flor === null || state.hand.phase !== 'play') return { here: state, actions: legal(state, seat) }
  // A flor that was not heard of may have ended the game, or others may hold one that is to be said first.
  const isOpen = offer?.what === 'flor' || (offer?.what === 'saying' && offer.contest === 'flor')
  const inView = decidersInView(state)
  const isSure = !isOpen && awaited.length > 0 && awaited.length === inView.length && inView.every((one) => awaited.includes(one))
  return { here: state, actions: isSure ? unclaimed(state, legal(state, seat)) : [] }
}

/** Whether the hand waits for a seat, though nobody else can tell. @param {State} state @param {number} seat @param {number[]} awaited */
export const isAwaitedUnseen = (state, seat, awaited) => !awaited.includes(seat) && holders(state).includes(seat)

// Who holds the decision: of those who may hold a flor the next, and to answer a challenge only who surely holds one.
/** @param {State} state */
function holders(state) {
  const offer = openOffer(state)
  switch (offer?.what) {
    case 'flor':
    case 'saying': return offer.waiting.slice(0, 1)
    case 'contraflor': return deciders(state).filter((seat) => hasFlor(state, seat))
    default: return deciders(state)
  }
}

// Those of them that everybody can tell.
/** @param {State} state */
function decidersInView(state) {
  const waiting = holders(state)
  return openOffer(state)?.what === 'contraflor' ? waiting.filter((seat) => state.hand.contests.flores.includes(seat)) : waiting
}

// Of those who are to say what their flores are worth only those remain who surely will.
/** @param {State} state @returns {State} */
function withoutUnheard(state) {
  const offer = openOffer(state)
  if (offer?.what !== 'saying' || offer.contest !== 'flor') return state
  return answered(state, { ...offer, waiting: offer.waiting.filter((seat) => hasFlor(state, seat)) })
}

// Once a flor was said those of others may have counted without a word, and are not claimed.
/** @param {State} state @param {Action[]} actions */
const unclaimed = ({ hand: { contests } }, actions) =>
  contests.flores.length === 0 ? actions : actions.filter(({ kind }) => kind !== 'claim')

/**
 * An action as people are offered it: its line, and figures that hang on no hidden card.
 *
 * @param {State} state
 * @param {Action} action
 * @returns {{ line: string, hints: Hints }}
 */
export const described = (state, action) => ({ line: moveLine(state.rules, action), hints: hintsOf(state, action, openOffer(state)) })

/** @param {State} state @param {Action} action @param {Offer | undefined} offer @returns {Hints} */
function hintsOf(state, { seat, kind, value }, offer) {
  if (kind === 'raise' || kind === 'play') return hintsOfAsk(state, value, offer)
  if (kind === 'accept' || kind === 'decline') return hintsOfAnswer(state, offer, kind === 'accept')
  if (kind === 'concede') return [['loses', lostBy(state, seat)]]
  if (CALLS.includes(kind)) return hintsOfEnvido(state, [...offer?.what === 'envido' ? offer.calls : [], kind])
  return kind === 'deal' ? [['cards', Number(value)]] : []
}

/** @param {State} state @param {Action['value']} asked @param {Offer | undefined} offer @returns {Hints} */
function hintsOfAsk({ hand: { bets } }, asked, offer) {
  const over = offer?.what === 'stake' ? offer.stake : null
  if (over !== null && (asked === null || over === 'rest')) return [['stake', shown(over)]]
  return asked === null ? [] : [['stake', shown(asked)], ['declined', over ?? bets.stake]]
}

/** @param {State} state @param {Offer | undefined} offer @param {boolean} isYes @returns {Hints} */
function hintsOfAnswer(state, offer, isYes) {
  switch (offer?.what) {
    case 'stake': return [isYes ? ['stake', shown(offer.stake)] : ['loses', state.hand.bets.stake]]
    case 'last_point': return [isYes ? ['stake', offer.stake] : ['loses', offer.decline]]
    case 'envido': {
      const [worth, [, declined]] = hintsOfEnvido(state, offer.calls)
      return [isYes ? worth : ['loses', declined]]
    }
    default: return []
  }
}

/** @param {State} state @param {string[]} calls @returns {Hints} */
function hintsOfEnvido(state, calls) {
  const points = calls.includes('falta-envido') ? Math.max(...faltas(state)) : sumOf(calls)
  return [['points', points], ['declined', declinedPoints(calls)]]
}

/** @param {State} state @param {number} seat */
function lostBy(state, seat) {
  const { bets } = state.hand
  if (bets.locked !== null) return shown(bets.locked)
  return bets.stake + (openEnvido(state, seat).length > 0 ? state.rules.envido?.fold_bonus ?? 0 : 0)
}

/** @param {number | string} stake */
const shown = (stake) => stake === 'rest' ? 'game' : stake
