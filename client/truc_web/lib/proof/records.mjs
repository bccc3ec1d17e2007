// Sections 5, 8, 9: the shapes of records and acts (C1, C2), heads and places. Section 11: the failure of a check.

import { same } from '../bytes.mjs'
import { H, Malformed, decode } from './encoding.mjs'
import { isAdmissible, signatureHolds } from './keys.mjs'
import { shape, tagged } from './shapes.mjs'

export const SERVER = 0     // a role; seat i has the role i + 1
/** @param {number} role @returns {string} */
export const nameOf = (role) => role === SERVER ? 'server' : `seat ${role - 1}`

/**
 * A record as it comes: the role of its signer, what is signed, and the signature.
 *
 * @typedef {{ signer: number, body: Uint8Array, sig: Uint8Array }} Raw
 */

/**
 * A record that has its shape. `fields` are those of its kind, by the table below; `key`, with which it was signed, and
 * `after`, the head after it, are there once a ledger has taken it; `hangsOn` is the hand whose closed cards may decide
 * whether the rules allow it.
 *
 * @typedef {Raw & { kind: string, bound: string, phases: string[], fields: any, key?: Uint8Array | null,
 *   after?: Uint8Array, hangsOn?: import('./ledger.mjs').Hand | null }} TypedRecord
 */

/**
 * Where a record stands: the match, its position, the head before it.
 *
 * @typedef {{ mid: Uint8Array, k: number, head: Uint8Array }} Place
 */

/** `check` is its name, such as `C14`; `culprit` a role, or null where the records show nobody to blame. */
export class CheckFailed extends Error {
  /** @param {string} check @param {number | null} culprit @param {ErrorOptions} [options] */
  constructor(check, culprit, options) {
    super(check, options)
    this.check = check
    this.culprit = culprit
  }
}

/**
 * @param {boolean} condition
 * @param {string} check
 * @param {number | null} culprit
 * @returns {asserts condition}
 */
export function must(condition, check, culprit) {
  if (!condition) throw new CheckFailed(check, culprit)
}

// The table of section 5: kind | signer | bound by | phases | fields.
const TABLE = `
table   | server |   | setup        | spk h, tn h, rules h, deck u, seats u, links u, policy t, mode t, anchor h, x h, opts [u], name name, time u
seat    | seat   |   | setup        | th h, seat u, pk h, anchor h, x h, name name
guest   | server |   | setup        | th h, seat u, x h?, name name
match   | server |   | setup        | th h, seats [h]
call    | server | P | between      | j u, dealer u, ncards u, cut u, roles [u]
release | seat   | Q | called       | j u, seat u, link h
draw    | server | P | called       | j u, link h, first u
deal    | server | P | called hand  | j u, d u, dealer u, ncards u, cut u, up [u], leaves [[h]], boxes [bin]
act     | seat   | P | between hand | j u, seat u, kind t, args array
proxy   | server | P | between hand | j u, seat u, kind t, args array
open    | server | P | hand         | j u, d u, seat u, openings [[u, u, bin16]]
share   | server | P | hand         | j u, d u, giver u, receiver u, box bin
rule    | server | P | between hand | j u, ruling t, seat u?, kind t?, args array
close   | server | P | hand over    | j u, link h?, score [[u, u, u], [u, u, u]], reason t
void    | server | P | called       | j u, reason t, seats [u], link h?
rekey   | role   | P | between      | role u, first u, anchor h, x h?
sub     | seat   | P | between      | first u, seat u, pk h, anchor h, x h, name name
resign  | seat   | P | between hand | seat u
end     | server | P | over         | next_index u, links [[u, h]], xsec h, score [[u, u, u], [u, u, u]], winner u?, reason t
ack     | seat   | Q | ended        | seat u
mask    | seat   | P | called       | j u, seat u, points [h]
lock    | seat   | P | called hand  | j u, d u, seat u, nonce h?, points [h], commitments [h]
keys    | seat   | Q | called hand  | j u, d u, seat u, box h?, opened [h], boxes [bin]
lend    | seat   | P | hand         | j u, d u, seat u, receiver u, box bin
garbled | seat   | P | called hand  | j u, d u, seat u`

const RECORDS = new Map(TABLE.trim().split('\n').map((line) => {
  const [kind, who, bound, phases, fields] = line.split('|').map((cell) => cell.trim())
  const place = bound === '' ? '' : 'mid h, k u, head h, '
  const row = { who, bound, phases: phases.split(' '), fieldsOf: tagged(kind, place + fields) }
  return /** @type {const} */ ([kind, row])
}))

/** @param {{ who: string }} row @param {number} signer @param {any} fields */
function isSigner({ who }, signer, fields) {
  if (who === 'server') return signer === SERVER
  return signer === (who === 'role' ? fields.role : fields.seat + 1)
}

/** C2: the record, or Malformed. @param {Raw} raw @param {any} value @returns {TypedRecord} */
function shapeRecord(raw, value) {
  const kind = String(value?.[0]).slice('truc/1/'.length)
  const row = RECORDS.get(kind)
  if (row === undefined) throw new Malformed('no kind of record')
  const fields = row.fieldsOf(value)
  if (!isSigner(row, raw.signer, fields)) throw new Malformed('another signer')
  // what a guest does the server writes down, and nobody signs
  if (raw.sig.length !== (kind === 'proxy' ? 0 : 64)) throw new Malformed('the length of the signature')
  return { ...raw, kind, bound: row.bound, phases: row.phases, fields }
}

/**
 * C1, then C2. A senseless body convicts its signer only where `convicts` says so of the value.
 *
 * @param {Raw} raw
 * @param {(value: any) => boolean} [convicts]
 */
export function readRecord(raw, convicts = () => false) {
  let value
  try {
    value = decode(raw.body)
    return shapeRecord(raw, value)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    // only what decodes can be bound to a place, and so convict whoever signed it (decision 10)
    must(value === undefined, 'C2', convicts(value) ? raw.signer : null)
    throw new CheckFailed('C1', null)
  }
}

/**
 * The key that a record brings and is signed with, if it does: of a table, a seat, a sub.
 *
 * @param {TypedRecord} record
 * @returns {Uint8Array | undefined}
 */
export const keyIn = ({ fields }) => fields.spk ?? fields.pk

/** The same of a record that may have no shape. @param {Raw} raw */
export function broughtBy(raw) {
  try {
    return keyIn(readRecord(raw))
  } catch (error) {
    if (error instanceof CheckFailed) return undefined
    throw error
  }
}

/**
 * A record of any list as what the server with this key has signed, or with the one a table brings; else null.
 *
 * @param {Raw} raw
 * @param {Uint8Array} [pk]
 */
export function wordOfServer(raw, pk) {
  try {
    const record = readRecord(raw)
    const key = pk ?? record.fields.spk
    const isWord = record.signer === SERVER && record.kind !== 'proxy' && key !== undefined
    return isWord && isAdmissible(key) && signatureHolds(key, record.body, record.sig) ? record : null
  } catch (error) {
    if (error instanceof CheckFailed) return null
    throw error
  }
}

/** @type {(kinds: string) => [string, (values: any) => any][]} */
const withoutArgs = (kinds) => kinds.split(' ').map((kind) => [kind, shape('')])

/** What the args of acts are, by kind. @typedef {Map<string, (values: any) => any>} Acts */

/** The table of section 8. @type {Acts} */
export const ACTS = new Map([
  ['play', shape('slot u, card u, salt bin16, ask stake?')],
  ['cover', shape('slot u')],
  ['blind', shape('slot u')],
  ['show', shape('openings [[u, u, bin16]]')],
  ['raise', shape('stake stake')],
  ['cut', shape('p u')],
  ['deal', shape('count u')],
  ['points', shape('value u')],
  ['claim', shape('seat u')],
  ['order', shape('rank t')],
  ...withoutArgs('accept decline concede tap redeal stand envido real-envido falta-envido good silent flor flor-fold ' +
    'contraflor contraflor-rest pause resume resign')
])

/** @param {(number | string)[]} numbers */
export const isAscending = (numbers) => numbers.every((number, i) => i === 0 || numbers[i - 1] < number)

/**
 * The opening of a card: its slot, the card, and what proves it, in mode `dealt` the salt of its leaf.
 *
 * @typedef {[slot: number, card: number, proof: any]} Opening
 */

/**
 * C2 of the args, as an object. Cards and the place of a cut are below `deck`.
 *
 * @param {string} kind
 * @param {any} values
 * @param {number} deck
 * @param {Acts} [acts]
 * @returns {any}
 */
export function readArgs(kind, values, deck, acts = ACTS) {
  const argsOf = acts.get(kind)
  if (argsOf === undefined) throw new Malformed('no kind of act')
  const args = argsOf(values)
  const { card = 0, p = 0, count = 3 } = args
  /** @type {Opening[]} */
  const openings = args.openings ?? []
  const sound = isAscending(openings.map(([slot]) => slot)) && (kind !== 'show' || openings.length > 0) &&
    [card, p, ...openings.map((opening) => opening[1])].every((index) => index < deck) && [1, 3].includes(count)
  if (!sound) throw new Malformed('the args')
  return args
}

/** @param {Uint8Array} head @param {Raw} record */
export const nextHead = (head, { signer, body, sig }) => H('link', head, signer, body, sig)

// A record bound by P carries the place { mid, k, head } before it; releases, keys and acks (Q) one that they do not move.
/** @param {Place} record @param {Place} place */
export const isAt = ({ mid, k, head }, place) => same(place.mid, mid) && k === place.k && same(place.head, head)
/** @param {string} kind */
export const movesQuiet = (kind) => !['release', 'keys', 'ack'].includes(kind)
