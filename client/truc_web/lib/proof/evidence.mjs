// Section 14: what needs something beside a transcript. Refusals (C35), complaints (C18), two transcripts (C33, C34,
// C36). A transcript stands here as the verdict on it, and counts as far as its records pass.

import { same, toHex } from '../bytes.mjs'
import { Malformed, decode, sha256 } from './encoding.mjs'
import { boxKeyOf, exchange, signatureHolds } from './keys.mjs'
import { boxKey, openHand } from './boxes.mjs'
import { leafOf } from './deals.mjs'
import { EVIDENCE, itemsOf, recordShape } from './files.mjs'
import { SERVER } from './records.mjs'
import { tagged } from './shapes.mjs'

const MOST_ITEMS = 256
const REFUSABLE = ['act', 'resign', 'rekey', 'sub']
const refusalShape = tagged('refuse', 'mid h, body h, code t')
const complaintShape = tagged('complaint', 'mid h, k u, seat u, secret h')

function readEvidence(item) {
  const value = decode(item)
  if (!Array.isArray(value) || value[0] !== SERVER) return { kind: 'complaint', ...complaintShape(value) }
  const { body: signed, sig } = recordShape(value)
  return { kind: 'refusal', signed, sig, ...refusalShape(decode(signed)) }
}

/**
 * The items of a file of evidence, equal ones once, or Malformed (C41).
 *
 * @param {Uint8Array} bytes
 * @returns {{ kind: 'complaint' | 'refusal', mid: Uint8Array }[]}
 */
export function readEvidenceFile(bytes) {
  const items = [...itemsOf(bytes, EVIDENCE)]
  if (items.length > MOST_ITEMS) throw new Malformed('too many items')
  return [...new Map(items.map((item) => [toHex(item), readEvidence(item)])).values()]
}

const isOneMatch = (mid, table) => mid !== undefined && table?.mid !== undefined && same(table.mid, mid)

/** Whether an item is of the match of a transcript. */
export const isOf = ({ mid }, { table }) => isOneMatch(mid, table)

/**
 * What an item shows of a transcript of its match.
 *
 * @param {{ kind: 'complaint' | 'refusal', mid: Uint8Array }} item
 * @param {import('./audit.mjs').Verdict} transcript
 * @returns {{ judgement: string | null, check: string | null, record: number | null, culprit: number | null }}
 */
export function weigh(item, transcript) {
  const nothing = { judgement: null, check: null, record: null, culprit: null }
  if (!isOf(item, transcript)) return { ...nothing, judgement: item.kind === 'complaint' ? 'no complaint' : null }
  if (item.kind === 'complaint') return judge(item, transcript.ledger, nothing)
  const record = transcript.ledger.records.findIndex((one) => isRefused(one, item))
  if (record < 0 || !isSigned(item, transcript)) return nothing
  return { ...nothing, check: 'C35', record, culprit: SERVER }
}

const isSigned = ({ signed, sig }, { table }) => signatureHolds(table.server.pk, signed, sig)
const isRefused = ({ kind, body }, refusal) => REFUSABLE.includes(kind) && same(sha256(body), refusal.body)

function judge({ k, seat, secret }, ledger, nothing) {
  const sealed = ledger.sealed.find((one) => one.k === k && one.receiver === seat && one.box.length > 0)
  if (sealed === undefined || !same(boxKeyOf(secret), sealed.x)) return { ...nothing, judgement: 'no complaint' }
  if (isHonest(sealed, secret, ledger)) return { ...nothing, judgement: 'dismissed' }
  return { judgement: 'upheld', check: 'C18', record: k, culprit: SERVER }
}

// The cards of a box, or null if it is garbled.
function cardsOf({ hand, d, owner, x, box, info }, secret, { mid, server }) {
  let cards
  try {
    cards = openHand(boxKey(exchange(secret, server.x), mid, info), box)
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
  const leaves = hand.deals[d].leaves[owner]
  const fits = cards.length === leaves.length && cards.every(([card, salt], slot) =>
    same(leafOf(mid, hand.j, d, owner, slot, card, salt), leaves[slot]))
  return fits ? cards.map(([card]) => card) : null
}

function isHonest(sealed, secret, ledger) {
  const cards = cardsOf(sealed, secret, ledger)
  if (cards === null) return false
  const before = ledger.sealed.filter((one) => one.hand === sealed.hand && one.k < sealed.k &&
    one.owner === sealed.receiver && one.receiver === sealed.receiver)
  const elsewhere = [...sealed.hand.deals[0].up, ...before.flatMap((one) => cardsOf(one, secret, ledger) ?? [])]
  return new Set([...cards, ...elsewhere]).size === cards.length + new Set(elsewhere).size &&
    cards.every((card) => card < ledger.rules.deck)
}

/**
 * Everything that two transcripts show, each once. What a refusal names does not convict a seat.
 *
 * @param {import('./audit.mjs').Verdict} first
 * @param {import('./audit.mjs').Verdict} second
 * @param {object[]} refusals items of evidence
 * @returns {{ check: string, culprit: number }[]}
 */
export function compare(first, second, refusals) {
  const found = new Map()
  const convict = (check, culprit) => found.set(check + culprit, { check, culprit })
  if (!first.table?.terms || !second.table?.terms) return []
  if (!isOneMatch(first.table.mid, second.table)) {
    if (isOneTable(first.table, second.table)) convict('C36', SERVER)
    return [...found.values()]
  }
  const isCounted = (record) => refusals.some((item) =>
    isRefused(record, item) && isOf(item, first) && isSigned(item, first))
  const [a, b] = [first.ledger, second.ledger]
  for (const [what, one] of signedOnce(a)) {
    const other = signedOnce(b).get(what)
    if (other === undefined || same(other.body, one.body)) continue
    if (one.signer === SERVER) convict('C33', SERVER)
    else if (isKnown(one.key, a, b) && !isCounted(one) && !isCounted(other)) convict('C34', one.signer)
  }
  if (isForked(a, b)) convict('C33', SERVER)
  return [...found.values()]
}

// A key that a sub has brought counts only if in one of the lists the server has signed a record after that sub.
function isKnown(key, ...ledgers) {
  const lists = ledgers.filter(({ newcomers }) => newcomers.has(toHex(key)))
  return lists.length === 0 || lists.some((ledger) => !ledger.isUnknown(key))
}

// C36: two tables with one nonce, or two matches on one table.
function isOneTable(a, b) {
  const [table, other] = [a.records[0], b.records[0]]
  const sameNonce = same(table.fields.spk, other.fields.spk) && same(table.fields.tn, other.fields.tn)
  return sameNonce && (!same(table.body, other.body) || (a.done && b.done))
}

// By what each signer may sign once: the server one record for a position and one call for an index; a seat one act or
// resignation for a position, and one release for an index.
function signedOnce(ledger) {
  if (ledger.signed) return ledger.signed
  ledger.signed = new Map()
  for (const record of ledger.records) {
    const { kind, signer, key, fields: { k, j } } = record
    const by = key && toHex(key)
    if (signer === SERVER && kind !== 'proxy') ledger.signed.set(`server ${k}`, record)
    if (kind === 'call') ledger.signed.set(`call ${j}`, record)
    if (kind === 'release') ledger.signed.set(`release ${j} ${by}`, record)
    if (kind === 'act' || kind === 'resign') ledger.signed.set(`decision ${k} ${by}`, record)
  }
  return ledger.signed
}

// Whether the lists, each up to the last record that the server signed, differ at a position that both have: then the
// heads after it differ too.
function isForked(first, second) {
  const lengths = [first, second].map(({ records }) =>
    1 + records.findLastIndex(({ kind, signer }) => signer === SERVER && kind !== 'proxy'))
  const both = Math.min(...lengths)
  return both > 0 && !same(first.records[both - 1].after, second.records[both - 1].after)
}
