// The public surface of the library; everything else may move.
//
// A verifier of transcripts and a client with a key, written from docs/fairness/specification.md and docs/rules alone. Runs
// on Node 18 or later and in browsers, and needs nothing else.
//
// Begin with `verify` (proof/audit.mjs) for a whole transcript, with `Ledger` for a match as its records come, with
// `Player` (player.mjs) to play.

/** The rules of the games (rules/index.mjs), loaded when they are needed; `Setup` is given them. */
export const loadRules = () => import('./rules/index.mjs')

export { concat, fromHex, isBytes, same, toHex } from './bytes.mjs'

// The verdict on files: transcripts, and evidence beside them.
export { verify } from './proof/audit.mjs'
export { compare, isOf, readEvidenceFile, weigh } from './proof/evidence.mjs'
export { EVIDENCE, FILE_LIMIT, TRANSCRIPT, fileOf, itemsOf, readItem, startsWith } from './proof/files.mjs'
export { outcomes } from './proof/vectors.mjs'

// A match as its records come. What fails throws CheckFailed, or Malformed where bytes are not what they should be.
export { Malformed, decode, encode } from './proof/encoding.mjs'
export { CheckFailed, SERVER, nameOf } from './proof/records.mjs'
export { Setup } from './proof/setup.mjs'
export { Ledger } from './proof/ledger.mjs'
export { checkHello, checkLogin, checkRevocation, fingerprint, playerSeed } from './proof/handshake.mjs'

// Playing: messages, a connection, a seat, the conversation.
export { pack, unpack } from './messages.mjs'
export { Goodbye, Line, Stopped, placeOf } from './line.mjs'
export { comeBack } from './coming_back.mjs'
export { Greeting, knownBy, playerOf } from './login.mjs'
export { Seat } from './seat.mjs'
export { SeatTalk } from './seat_talk.mjs'
export { Player } from './player.mjs'
