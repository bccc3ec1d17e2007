// The rules of the games, from their documents: docs/rules. Pure functions from values to values; no I/O, no chance.
//
// A match begins with `begin`; `deal` gives it cards, `legal` says what a seat may do, `play` does it; when a hand is
// over `nextHand` follows. Cards that are not known are null: so a seat may ask for its own options. Loaded when it is
// needed: ../index.mjs does not import it.

export { COVERED, couldBeFlor, envidoValue, florValue, isFlor, orderOf, strengthOf } from './cards.mjs'
export { BadDocument, rankOf, readRules, suitOf } from './document.mjs'
export { begin, deal, nextHand } from './deals.mjs'
export { IllegalAction, deciders, isLegal, legal, play, playRuled, refusal, ruled } from './match.mjs'
export { signReceivers, signs } from './orders.mjs'
export { described, isAwaitedUnseen, surelyLegal } from './options.mjs'
export { Reading } from './reading.mjs'
export { openSlots, owedShows } from './shows.mjs'
export { atLastPoint, owedShares } from './stakes.mjs'
export { actionOf, scoreOf, sideOf } from './state.mjs'
export { moveLine, readMove } from './moves.mjs'
