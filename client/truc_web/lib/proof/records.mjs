// Sections 5, 8, 9: the shapes of records and acts (C1, C2), heads and places. Section 11: the failure of a check.

import { same } from '../bytes.mjs'
import { H, Malformed, decode } from './encoding.mjs'
import { isAdmissible, signatureHolds } from './keys.mjs'
import { shape, tagged } from './shapes.mjs'

export const SERVER = 0     // a role; seat i has the role i + 1
/** @param {number} role @returns {string} */
export const nameOf = (role) => role === SERVER ? 'server' : `seat ${role - 1}`

/** `check` is its name, such as `C14`; `culprit` a role, or null where the records show nobody to blame. */
export class CheckFailed extends Error {
  constructor(check, culprit) {
    super(check)
    Object.assign(this, { check, culprit })
  }
}

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
ack     | seat   | Q | ended        | seat u`

const RECORDS = new Map(TABLE.trim().split('\n').map((line) => {
  const [kind, who, bound, phases, fields] = line.split('|').map((cell) => cell.trim())
  const place = bound === '' ? '' : 'mid h, k u, head h, '
  return [kind, { who, bound, phases: phases.split(' '), fieldsOf: tagged(kind, place + fields) }]
}))

function isSigner({ who }, signer, fields) {
  if (who === 'server') return signer === SERVER
  return signer === (who === 'role' ? fields.role : fields.seat + 1)
}

// C2: the record { signer, body, sig, kind, bound, phases, fields }, or Malformed.
function shapeRecord(raw, value) {
  const kind = String(value?.[0]).slice('truc/1/'.length)
  const row = RECORDS.get(kind)
  if (row === undefined) throw new Malformed('no kind of record')
  const fields = row.fieldsOf(value)
  if (!isSigner(row, raw.signer, fields)) throw new Malformed('another signer')
  if (raw.sig.length !== (kind === 'proxy' ? 0 : 64)) throw new Malformed('the length of the signature')
  return { ...raw, kind, bound: row.bound, phases: row.phases, fields }
}

// C1, then C2. A senseless body convicts its signer only where `convicts` says so of the value.
export function readRecord(raw, convicts = () => false) {
  let value
  try {
    value = decode(raw.body)
    return shapeRecord(raw, value)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    must(value === undefined, 'C2', convicts(value) ? raw.signer : null)
    throw new CheckFailed('C1', null)
  }
}

// The key that a record brings and is signed with, if it does: of a table, a seat, a sub.
export const keyIn = ({ fields }) => fields.spk ?? fields.pk

/** The same of a record that may have no shape. */
export function broughtBy(raw) {
  try {
    return keyIn(readRecord(raw))
  } catch (error) {
    if (error instanceof CheckFailed) return undefined
    throw error
  }
}

/** A record of any list as what the server with this key has signed, or with the one a table brings; else null. */
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

// The table of section 8: what the args of an act are.
const ACTS = new Map([
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
  ...('accept decline concede tap redeal stand envido real-envido falta-envido good silent flor flor-fold contraflor ' +
    'contraflor-rest pause resume resign').split(' ').map((kind) => [kind, shape('')])
])

export const isAscending = (numbers) => numbers.every((number, i) => i === 0 || numbers[i - 1] < number)

// C2 of the args, as an object. Cards and the place of a cut are below `deck`.
export function readArgs(kind, values, deck) {
  if (!ACTS.has(kind)) throw new Malformed('no kind of act')
  const args = ACTS.get(kind)(values)
  const { openings = [], card = 0, p = 0, count = 3 } = args
  const sound = isAscending(openings.map(([slot]) => slot)) && (kind !== 'show' || openings.length > 0) &&
    [card, p, ...openings.map((opening) => opening[1])].every((index) => index < deck) && [1, 3].includes(count)
  if (!sound) throw new Malformed('the args')
  return args
}

export const nextHead = (head, { signer, body, sig }) => H('link', head, signer, body, sig)

// A record bound by P carries the place { mid, k, head } before it; releases and acks (Q) one that they do not move.
export const isAt = ({ mid, k, head }, place) => same(place.mid, mid) && k === place.k && same(place.head, head)
export const movesQuiet = (kind) => kind !== 'release' && kind !== 'ack'
