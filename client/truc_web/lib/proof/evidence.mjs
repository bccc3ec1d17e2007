// Section 14: what needs something beside a transcript. Refusals (C35), complaints (C18), two transcripts (C33, C34,
// C36). A transcript stands here as the verdict on it, and counts as far as its records pass.

import { same, toHex } from '../bytes.mjs'
import { Malformed, decode, sha256 } from './encoding.mjs'
import { boxKeyOf, exchange, signatureHolds } from './keys.mjs'
import { boxKey, openHand } from './boxes.mjs'
import { leafOf } from './deals.mjs'
import { EVIDENCE, ITEM_LIMIT, itemsOf, readItem } from './files.mjs'
import { SERVER } from './records.mjs'
import { tagged } from './shapes.mjs'

/** @typedef {import('./audit.mjs').Verdict} Verdict */
/** @typedef {import('./ledger.mjs').Ledger} Ledger */
/** @typedef {import('./ledger.mjs').SealedBox} SealedBox */
/** @typedef {import('./records.mjs').TypedRecord} TypedRecord */

/**
 * An item of evidence: the secret of a seat, which shows what one of its boxes held, or the server's signed word that it
 * did not take a body.
 *
 * @typedef {{ kind: 'complaint', mid: Uint8Array, k: number, seat: number, secret: Uint8Array }} Complaint
 * @typedef {{ kind: 'refusal', mid: Uint8Array, body: Uint8Array, code: string, signed: Uint8Array, sig: Uint8Array
 * }} Refusal
 */

/**
 * What an item shows of a transcript.
 *
 * @typedef {{ judgement: string | null, check: string | null, record: number | null, culprit: number | null }} Shown
 */

/** What two transcripts show. @typedef {{ check: string, culprit: number }} Conviction */

const MOST_ITEMS = 256
const REFUSABLE = ['act', 'resign', 'rekey', 'sub']
const LATE = ['stale_position', 'void_bet']
const refusalShape = tagged('refuse', 'mid h, body h, code t')
const complaintShape = tagged('complaint', 'mid h, k u, seat u, secret h')

/** @param {Uint8Array} item @returns {Complaint | Refusal} */
function readEvidence(item) {
  const value = decode(item, ITEM_LIMIT)
  if (!Array.isArray(value) || value[0] !== SERVER) return { kind: 'complaint', ...complaintShape(value) }
  const { body: signed, sig } = readItem(item)
  return { kind: 'refusal', signed, sig, ...refusalShape(decode(signed)) }
}

/**
 * The items of a file of evidence, equal ones once, or Malformed (C41).
 *
 * @param {Uint8Array} bytes
 * @returns {(Complaint | Refusal)[]}
 */
export function readEvidenceFile(bytes) {
  const items = []
  for (const item of itemsOf(bytes, EVIDENCE)) {
    // at once: a file of empty items has millions
    if (items.push(item) > MOST_ITEMS) throw new Malformed('too many items')
  }
  return [...new Map(items.map((item) => [toHex(item), readEvidence(item)])).values()]
}

/** @param {Uint8Array | undefined} mid @param {{ mid?: Uint8Array } | null} table */
const isOneMatch = (mid, table) => mid !== undefined && table?.mid !== undefined && same(table.mid, mid)

/** Whether an item is of the match of a transcript. @param {Complaint | Refusal} item @param {Verdict} transcript */
export const isOf = ({ mid }, { table }) => isOneMatch(mid, table)

/**
 * What an item shows of a transcript of its match.
 *
 * @param {Complaint | Refusal} item
 * @param {Verdict} transcript
 * @returns {Shown}
 */
export function weigh(item, transcript) {
  const nothing = { judgement: null, check: null, record: null, culprit: null }
  const { ledger } = transcript
  if (!isOf(item, transcript) || ledger === null) {
    return { ...nothing, judgement: item.kind === 'complaint' ? 'no complaint' : null }
  }
  if (item.kind === 'complaint') return judge(item, ledger, nothing)
  const { records, signedByServer } = ledger
  const record = records.findIndex((one) => isRefused(one, item))
  if (record < 0 || !isSigned(item, transcript)) return nothing
  const isTaken = record < signedByServer     // before, whoever wrote the list may have put it there
  if (!isTaken && LATE.includes(item.code)) return nothing
  if (!isTaken && !isAllowed(records[record])) return nothing
  return { ...nothing, check: 'C35', record, culprit: SERVER }
}

/** @param {Refusal} refusal @param {Verdict} transcript */
const isSigned = ({ signed, sig }, { table }) => table !== null && signatureHolds(table.server.pk, signed, sig)
/** @param {TypedRecord} record @param {Complaint | Refusal} item */
const isRefused = ({ kind, body }, item) =>
  item.kind === 'refusal' && REFUSABLE.includes(kind) && same(sha256(body), item.body)

// Whether the rules allow a record that passes for certain: closed cards could have made it wrong, until its hand has been
// played again with all of them.
/** @param {TypedRecord} record */
const isAllowed = ({ hangsOn }) => !hangsOn || hangsOn.isReplayed

/** @param {Complaint} complaint @param {Ledger} ledger @param {Shown} nothing @returns {Shown} */
function judge({ k, seat, secret }, ledger, nothing) {
  const sealed = ledger.sealed.find((one) => one.k === k && one.receiver === seat && one.box.length > 0)
  if (sealed?.x == null || !same(boxKeyOf(secret), sealed.x)) return { ...nothing, judgement: 'no complaint' }
  if (isHonest(sealed, secret, ledger)) return { ...nothing, judgement: 'dismissed' }
  return { judgement: 'upheld', check: 'C18', record: k, culprit: SERVER }
}

/**
 * The cards of a box, or null if it is garbled.
 *
 * @param {SealedBox} sealed
 * @param {Uint8Array} secret
 * @param {Ledger} ledger
 */
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

/** @param {SealedBox} sealed @param {Uint8Array} secret @param {Ledger} ledger */
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
 * @param {Verdict} first
 * @param {Verdict} second
 * @param {(Complaint | Refusal)[]} evidence
 * @returns {Conviction[]}
 */
export function compare(first, second, evidence) {
  /** @type {Map<string, Conviction>} */
  const found = new Map()
  /** @type {(check: string, culprit: number) => void} */
  const convict = (check, culprit) => { found.set(check + culprit, { check, culprit }) }
  const nonce = nonceOf(first)
  // a nonce of another server's is another: its lists bind nobody here, whatever they name
  if (nonce === null || nonce !== nonceOf(second)) return []
  const words = wordsOf(second)
  for (const [what, bodies] of wordsOf(first)) {
    const differs = bodies.some((one) => words.get(what)?.some((other) => !same(one, other)))
    if (differs) convict(what.startsWith('setup') ? 'C36' : 'C33', SERVER)
  }
  if (isOneMatch(first.table?.mid, second.table)) compareMatch(first, second, evidence, found)
  return [...found.values()]
}

/**
 * @param {Verdict} first
 * @param {Verdict} second
 * @param {(Complaint | Refusal)[]} evidence
 * @param {Map<string, Conviction>} found to which it adds
 */
function compareMatch(first, second, evidence, found) {
  const isCounted = (/** @type {TypedRecord} */ record) => evidence.some((item) =>
    item.kind === 'refusal' && isRefused(record, item) && isOf(item, first) && isSigned(item, first))
  const { ledger: a } = first
  const { ledger: b } = second
  if (a === null || b === null) return
  for (const [what, one] of signedOnce(a)) {
    const other = signedOnce(b).get(what)
    if (other === undefined || same(other.body, one.body) || !isKnown(one.key ?? null, a, b)) continue
    if (isCounted(one) || isCounted(other)) continue
    const culprit = one.signer
    const isSure = isAllowed(one) && isAllowed(other)     // only a decision can hang on cards
    if (isSure) found.set('C34' + culprit, { check: 'C34', culprit })
  }
  if (isForked(a, b)) found.set('C33' + SERVER, { check: 'C33', culprit: SERVER })
}

// The server of a list with the nonce of its table, also where the table record is what fails.
/** @param {Verdict} transcript */
function nonceOf({ table, failed }) {
  const { spk, tn } = table?.terms ?? failed?.fields ?? {}
  return spk === undefined ? null : `${toHex(spk)} ${toHex(tn)}`
}

/** By the transcript, which is compared with many. @type {WeakMap<Verdict, Map<string, Uint8Array[]>>} */
const wordsKnown = new WeakMap()

// The bodies that the server has signed in a list, the one that fails included, by what it may sign once: a table of a
// nonce, a match of a table, a record for a position, a call for an index.
/** @param {Verdict} transcript */
function wordsOf(transcript) {
  const { table, ledger, failed } = transcript
  const known = wordsKnown.get(transcript)
  if (known !== undefined) return known
  /** @type {Map<string, Uint8Array[]>} */
  const words = new Map()
  wordsKnown.set(transcript, words)
  const say = (/** @type {string} */ what, /** @type {TypedRecord} */ { body }) =>
    words.set(what, [...words.get(what) ?? [], body])
  for (const record of [...table?.records ?? [], ...ledger?.records ?? [], ...failed ? [failed] : []]) {
    const { kind, signer, fields: { spk, tn, th, mid, k, j } } = record
    if (signer !== SERVER || kind === 'proxy') continue
    if (kind === 'table') say(`setup ${toHex(spk)} ${toHex(tn)}`, record)
    if (kind === 'match') say(`setup ${toHex(th)}`, record)
    if (mid !== undefined) say(`record ${toHex(mid)} ${k}`, record)
    if (kind === 'call') say(`call ${toHex(mid)} ${j}`, record)
  }
  return words
}

// A key that a sub has brought counts only if in one of the lists the server has signed a record after that sub.
/** @param {Uint8Array | null} key @param {...Ledger} ledgers */
function isKnown(key, ...ledgers) {
  const lists = ledgers.filter(({ newcomers }) => key !== null && newcomers.has(toHex(key)))
  return lists.length === 0 || lists.some((ledger) => !ledger.isUnknown(key))
}

// By what a seat may sign once: one act or resignation for a position, and one release for an index; in mode blind one lock for
// a position, and one mask and the first keys of an index.
/** @param {Ledger} ledger */
function signedOnce(ledger) {
  if (ledger.signed) return ledger.signed
  const signed = ledger.signed = new Map()
  for (const record of ledger.records) {
    const { kind, signer, key, fields: { k, j } } = record
    // a newcomer's key may have come to another seat in the other list, where somebody else sits in this one
    const by = key && `${signer} ${toHex(key)}`
    if (kind === 'release' || kind === 'mask') signed.set(`${kind} ${j} ${by}`, record)
    if (kind === 'keys' && !signed.has(`keys ${j} ${by}`)) signed.set(`keys ${j} ${by}`, record)
    if (kind === 'lock') signed.set(`lock ${k} ${by}`, record)
    if (kind === 'act' || kind === 'resign') signed.set(`decision ${k} ${by}`, record)
  }
  return signed
}

// Whether the lists, each up to the last record that the server signed, differ at a position that both have: then the
// heads after it differ too.
/** @param {Ledger} first @param {Ledger} second */
function isForked(first, second) {
  const both = 1 + Math.min(first.signedByServer, second.signedByServer)
  const [a, b] = [first, second].map(({ records }) => records[both - 1]?.after)
  return a !== undefined && b !== undefined && !same(a, b)
}
