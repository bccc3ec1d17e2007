// The test vectors (docs/fairness/vectors.md), wherever their files are read: docs/verifiers/vectors.mjs does it in Node.
//
// One function for each type of group. It answers whether the fields of a test belong together; a test with the result
// "valid" must answer yes, an "invalid" one no, or be refused with Malformed or by the check that is named. A figure that
// a test does not give fits whatever came: an invalid test that gives none must be refused.

import { concat, fromHex as hex, isBytes, same as areSame, toHex } from '../bytes.mjs'
import { Malformed, H, decode, encode, sha256 } from './encoding.mjs'
import * as keys from './keys.mjs'
import { Chain, hashDown } from './chains.mjs'
import * as deals from './deals.mjs'
import * as boxes from './boxes.mjs'
import { CheckFailed, isAt, movesQuiet, nameOf, nextHead, readArgs, readRecord } from './records.mjs'
import { compare, readEvidenceFile, weigh } from './evidence.mjs'
import { TRANSCRIPT, fileOf } from './files.mjs'
import { checkHello, checkLogin, checkRevocation, fingerprint, playerSeed, rollBody, webBinding } from './handshake.mjs'
import { shape } from './shapes.mjs'
import { verify } from './audit.mjs'

// Tests, their groups and what comes of them are as the file has them in JSON.
/** @typedef {any} Test */
/** @typedef {any} Group */
/** @typedef {(name: string) => Promise<Uint8Array>} Read reads a file that lies beside it */
/** @typedef {import('./audit.mjs').Verdict} Verdict */

/** @type {(text: string | null) => Uint8Array | null} */
const maybeHex = (text) => text === null ? null : hex(text)

// Whether two values are alike, whatever the order of their fields.
/** @param {any} a @param {any} b @returns {boolean} */
function isAlike(a, b) {
  if (isBytes(a) && isBytes(b)) return areSame(a, b)
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b
  const names = Object.keys(a)
  return Array.isArray(a) === Array.isArray(b) && names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isAlike(a[name], b[name]))
}

/** @param {any} value @returns {any} */
function inHex(value) {
  if (isBytes(value)) return toHex(value)
  if (Array.isArray(value)) return value.map(inHex)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, inHex(field)]))
}

// Whether values that hold bytes are what the vectors write: bytes in hex.
/** @param {any} value @param {any} expected */
const same = (value, expected) => expected === undefined || isAlike(inHex(value), expected)

// A value of the encoding, as the vectors write it in JSON.
/** @param {any} json @returns {any} */
function valueOf(json) {
  if (Array.isArray(json)) return json.map(valueOf)
  return json !== null && typeof json === 'object' ? hex(json.bin) : json
}

/** @param {Uint8Array} body @param {any} json */
function isValue(body, json) {
  const value = decode(body)
  return json === undefined || isAlike(value, valueOf(json))
}

/** @param {[role: number, link: string][]} links @returns {import('./deals.mjs').Links} */
const linksOf = (links) => links.map(([role, link]) => [role, hex(link)])
/** @param {[signer: number, body: string, sig: string]} record */
const rawOf = ([signer, body, sig]) => ({ signer, body: hex(body), sig: hex(sig) })
/** @param {Test} t @param {string} tag @param {...any} rest */
const seatPlace = (t, tag, ...rest) => ['truc/1/' + tag, hex(t.mid), t.seat, t.at, ...rest]

// A box, by its `info`. An invalid one does not say what would be in it: one that opens all the same, to the right
// shape, answers yes. `open` and `seal` are functions of the key.
/**
 * @param {Test} t
 * @param {import('./encoding.mjs').Value} info
 * @param {any} expected
 * @param {(key: Uint8Array, box: Uint8Array) => any} open
 * @param {(key: Uint8Array, value: any) => Uint8Array} seal
 */
function isBox(t, info, expected, open, seal) {
  const key = boxes.boxKey(hex(t.shared), hex(t.mid), info)
  const value = open(key, hex(t.box))
  if (expected === undefined) return true
  return isAlike(value, expected) && same(key, t.key) && same(seal(key, value), t.box)
}

/** @param {Test} t @param {import('./encoding.mjs').Value} info */
function handBox(t, info) {
  const hand = t.hand?.map((/** @type {[number, string]} */ [card, salt]) => [card, hex(salt)])
  return isBox(t, info, hand, boxes.openHand, boxes.sealHand)
}

const optionsShape = shape('options [[t, array, t, [[t, hint]]]]')
/** @param {any} value */
const optionsOf = (value) => optionsShape([value]).options
const wordShape = shape('word t')
/** @param {any} value */
const wordOf = (value) => [wordShape(value).word]

/**
 * @param {Test} t
 * @param {any} place
 * @param {(value: any) => any} contentOf
 * @param {any} expected
 */
function privateBox(t, place, contentOf, expected) {
  const nonce = boxes.counterNonce(t.epoch ?? 0, t.number ?? 0)
  const isNonce = t.nonce === undefined || (t.epoch !== undefined && same(nonce, t.nonce))
  return isNonce && isBox(t, ['truc/1/private', t.seat], expected && valueOf(expected),
    (key, box) => contentOf(boxes.openPrivate(key, box, place, t.after)),
    (key, value) => boxes.sealPrivate(key, nonce, value, place, t.fill))
}

/** @param {Test} t */
function signUpBox(t) {
  const place = seatPlace(t, 'sign-up', t.to)
  return isBox(t, ['truc/1/private-up', t.seat], t.word && [t.word],
    (key, box) => wordOf(boxes.openUp(key, box, place)),
    (key, value) => boxes.sealUp(key, hex(t.nonce), value, place))
}

/** @param {Test} t @param {Group} group */
function isLink(t, group) {
  const [pk, tn, link, root] = [group.public, group.tn, t.link, group.root].map(hex)
  const last = group.first + group.count
  const chain = new Chain(pk, tn, group.first, group.count, hex(group.anchor))
  return chain.fits(t.index, link) && areSame(hashDown(pk, tn, root, last, group.first), hex(group.anchor)) &&
    areSame(hashDown(pk, tn, root, last, t.index), link)
}

/** @param {Test} t */
function isDeal(t) {
  const [mid, seed] = [hex(t.mid), hex(t.seed)]
  const dealt = deals.dealAll({ ...t, mid, seed }, t.deals.length).map((deal, d) =>
    ({ ...deal, digests: deal.leaves.map((leaves, q) => deals.handDigest(mid, t.j, d, q, leaves)) }))
  return isAlike(deals.orderOf(seed, t.deck, t.cut), t.order) && same(dealt, t.deals)
}

/** @param {Test} t */
function isStream(t) {
  const stream = new deals.Stream(hex(t.seed))
  return [...hex(t.start)].every((byte) => byte === stream.byte())
}

// A body by itself: its args are read as if every card were in the pack.
/** @param {Test} t */
function isRecord(t) {
  const record = readRecord(rawOf([t.signer, t.body, t.sig]))
  const { kind, args, ruling } = record.fields
  if (args !== undefined && (ruling === undefined || ruling === 'move')) readArgs(kind, args, Infinity)
  return isValue(record.body, t.value)
}

/** @param {Test} t */
function isIds(t) {
  const [tag, th, seats] = /** @type {any[]} */ (decode(hex(t.match)))
  return tag === 'truc/1/match' && same(th, t.th) && same(sha256(hex(t.table)), t.th) &&
    same(seats, t.seats.map((/** @type {string} */ body) => toHex(sha256(hex(body))))) &&
    same(sha256(hex(t.match)), t.mid)
}

/** @param {Uint8Array} body */
const kindOf = (body) => /** @type {any[]} */ (decode(body))[0].slice('truc/1/'.length)

/** @param {Test} t */
function isHeads(t) {
  const [heads, parallel] = [[hex(t.mid)], [0]]
  /** @type {import('./records.mjs').Raw[]} */
  const raws = t.records.map(rawOf)
  raws.forEach((raw, k) => {
    heads.push(nextHead(heads[k], raw))
    parallel.push(movesQuiet(kindOf(raw.body)) ? k + 1 : parallel[k])
  })
  return same(heads, t.heads) && isAlike(parallel, t.parallel)
}

/** @param {Test} t */
function isBound(t) {
  const [, mid, k, head] = /** @type {any[]} */ (decode(hex(t.body)))
  const binding = movesQuiet(kindOf(hex(t.body))) ? 'P' : 'Q'
  const place = binding === 'P' ? { mid, k: t.position, head: hex(t.head) } : { mid, k: t.k0, head: hex(t.head0) }
  return binding === t.binding && isAt({ mid, k, head }, place)
}

/** @param {Test} t */
async function isPlayer(t) {
  const seed = playerSeed(hex(t.master), hex(t.spk))
  return same(seed, t.seed) && same(await keys.signingKeyOf(seed), t.public)
}

// By what the platform has as a promise, and by what it computes at once.
/** @param {Test} t */
async function isSignature(t) {
  /** @type {[Uint8Array, Uint8Array, Uint8Array]} */
  const signed = [hex(t.public), hex(t.body), hex(t.signature)]
  const holds = keys.signatureHolds(...signed)
  await keys.attest(...signed)
  if (keys.signatureHolds(...signed) !== holds) throw new Error('a signature holds, and does not')
  return holds
}

/** @param {Test} t */
async function isExchange(t) {
  const [secret, peer] = [t.secret, t.peer].map(hex)
  const results = [await keys.agree(secret, peer), keys.exchange(secret, peer)]
  const publics = [await keys.newBoxKeyOf(secret), keys.boxKeyOf(secret)]
  return results.every((shared) => same(shared, t.shared)) && publics.every((key) => same(key, t.public))
}

/** @param {Test} t */
function isHello(t) {
  const { present, first } = t.known ?? {}
  const known = present ? { ...t.known, present: hex(present), first: hex(first) } : t.known
  const client = { ...t, frame: hex(t.client_frame), cert: maybeHex(t.cert), known, revoked: t.revoked.map(hex) }
  const rolls = t.rolls.map((/** @type {string[]} */ roll) => roll.map(hex))
  const { sn, trust, pin } = checkHello(client, { body: hex(t.body), sig: hex(t.sig), info: hex(t.info), rolls })
  return isValue(hex(t.body), t.value) && same({ sn, trust, pin }, t.pin && { sn: t.sn, trust: t.trust, pin: t.pin })
}

/** @param {Test} t */
function isLogin(t) {
  const [spk, cn, sn, frame] = [t.spk, t.cn, t.sn, t.server_frame].map(hex)
  const pk = checkLogin({ spk, cn, sn, frame, revoked: t.revoked.map(hex) }, { body: hex(t.body), sig: hex(t.sig) })
  return isValue(hex(t.body), t.value) && same(pk, t.pk)
}

/** @param {Test} t */
async function isRoll(t) {
  const [old, next] = [t.old_seed, t.new_seed].map(hex)
  const body = rollBody(await keys.signingKeyOf(old), await keys.signingKeyOf(next), t.serial, t.not_before)
  const signatures = [await keys.sign(old, body), await keys.sign(next, body)]
  return isValue(body, t.value) && same([body, ...signatures], [t.body, t.sig_old, t.sig_new])
}

/** @param {string[]} items */
const listOf = (items) => fileOf(TRANSCRIPT, items.map(hex))
/** @param {{ culprit: number | null }} shown */
const culpritOf = ({ culprit }) => culprit === null ? null : nameOf(culprit)

// Tampered transcripts.
/** @param {Test} t @param {Uint8Array} bytes */
async function isJudged(t, bytes) {
  const verdict = await verify(bytes)
  const wanted = [t.result, t.check, t.culprit, t.record, t.setup]
  return isAlike([verdict.result, verdict.check, culpritOf(verdict), verdict.record, verdict.setup], wanted)
}

/** @param {Test} t @param {Group} group */
const isListJudged = (t, group) => isJudged(t, listOf([group.document, ...group.items.slice(0, t.keep), ...t.then]))

/** @param {Test} t @param {Group} group @param {Read} read */
async function isFileJudged(t, group, read) {
  const bytes = await read(group.file)
  return isJudged(t, concat(bytes.subarray(0, t.at), hex(t.insert), bytes.subarray(t.at + t.remove)))
}

/** @param {Test} t @param {Group} group */
async function isWeighed(t, group) {
  const [item] = readEvidenceFile(hex(t.file))
  const shown = weigh(item, await verify(listOf([group.document, ...group.items])))
  if (t.result === 'invalid') return shown.check !== null || shown.judgement !== (t.judgement ?? null)
  return isAlike([shown.check, shown.record, culpritOf(shown), shown.judgement],
    [t.check, t.record, t.culprit, t.judgement ?? null])
}

/** @param {Test} t @param {Group} group */
async function isPair(t, group) {
  const files = [t.first, t.second].map((items) => listOf([group.document, ...group.items, ...items]))
  return isFound(t, compare(await verify(files[0]), await verify(files[1]), []))
}

/** @param {Test} t @param {{ check: string | null, culprit: number | null }[]} shown */
function isFound(t, shown) {
  const found = shown.map((one) => `${one.check} ${culpritOf(one)}`)
  const wanted = t.found.map((/** @type {string[]} */ one) => one.join(' '))
  return isAlike([...new Set(found)].sort(), wanted) === (t.result === 'valid')
}

// All that lists, and evidence beside them, show together.
/** @param {Test} t @param {Group} group */
async function isTogether(t, group) {
  /** @type {Verdict[]} */
  const lists = []
  for (const items of t.lists) lists.push(await verify(listOf([group.document, ...group.items, ...items])))
  const evidence = t.evidence === null ? [] : readEvidenceFile(hex(t.evidence))
  const pairs = lists.flatMap((first, i) => lists.slice(i + 1).flatMap((second) => compare(first, second, evidence)))
  const weighed = evidence.flatMap((item) => lists.map((list) => weigh(item, list)))
  return isFound(t, [...pairs, ...weighed.filter(({ check }) => check !== null)])
}

/** @type {Record<string, (t: Test, group: Group, read: Read) => boolean | Promise<boolean>>} */
const GROUPS = {
  canonical: (t) => isValue(hex(t.bytes), t.value) && same(encode(decode(hex(t.bytes))), t.bytes),
  digest: (t) => same(H(t.tag, ...valueOf(t.fields)), t.digest),
  body: (t) => {
    const bytes = encode(valueOf(t.value))
    return same([bytes, bytes.length, sha256(bytes)], [t.bytes, t.length, t.sha256])
  },
  record: isRecord,
  args: (t, group) => readArgs(t.kind, valueOf(t.args), group.deck) !== null,
  ids: isIds,
  link: (t) => same(nextHead(hex(t.head), rawOf([t.signer, t.body, t.sig])), t.next),
  heads: isHeads,
  bound: isBound,
  chain: isLink,
  stream: isStream,
  shuffle: (t) => same(deals.shuffle(hex(t.seed), t.size), t.order),
  pick: (t) => same(deals.pick(hex(t.seed), t.bound), t.picked),
  seed: (t) => same(deals.seedOf(hex(t.mid), t.j, linksOf(t.links)), t.seed),
  draw: (t) => deals.firstDealer(hex(t.mid), t.j, linksOf(t.links), t.seats) === t.first,
  salt: (t) => same(deals.saltOf(hex(t.seed), t.d, t.seat, t.slot), t.salt),
  leaf: (t) => same(deals.leafOf(hex(t.mid), t.j, t.d, t.seat, t.slot, t.card, hex(t.salt)), t.leaf),
  deal: isDeal,
  hand: (t) => handBox(t, boxes.handInfo(t.j, t.d, t.seat)),
  share: (t) => handBox(t, boxes.shareInfo(t.j, t.d, t.giver, t.receiver)),
  options: (t) => privateBox(t, seatPlace(t, 'options', t.offer), optionsOf, t.options),
  sign: (t) => privateBox(t, seatPlace(t, 'sign', t.sender), wordOf, t.word && [t.word]),
  'sign-up': signUpBox,
  pad: (t) => same(boxes.unpad(hex(t.padded)), t.plain) && same(boxes.pad(boxes.unpad(hex(t.padded)), t.fill), t.padded),
  admission: (t) => keys.isAdmissible(hex(t.public)),
  signature: isSignature,
  'box-admission': (t) => keys.isSoundBoxKey(hex(t.x)),
  exchange: isExchange,
  fingerprint: (t) => fingerprint(hex(t.spk)) === t.fingerprint,
  player: isPlayer,
  web: (t) => same(webBinding(t.origin), t.cert),
  hello: isHello,
  login: isLogin,
  roll: isRoll,
  revoke: (t) => same(checkRevocation(hex(t.body), hex(t.sig)), t.pk) && isValue(hex(t.body), t.value),
  'evidence-file': (t) => readEvidenceFile(hex(t.file)).length === t.count,
  complaint: isWeighed,
  refusal: isWeighed,
  pair: isPair,
  together: isTogether,
  list: isListJudged,
  'blind-list': isListJudged,
  file: isFileJudged
}

// Mode blind is loaded for its own groups.
const OF_BLIND = ['rep', 'scalar', 'fixed', 'card', 'sound', 'seat-secrets', 'blind-deal', 'blind-opening']
/** @param {string} type */
const checkOf = async (type) => OF_BLIND.includes(type) ? (await import('../blind/vectors.mjs')).BLIND_GROUPS[type] : GROUPS[type]

// 'agree' or 'disagree'. The tests of transcripts compare a whole verdict, whatever their result.
/**
 * @param {(t: Test, group: Group, read: Read) => boolean | Promise<boolean>} check
 * @param {Test} t
 * @param {Group} group
 * @param {Read} read
 */
async function outcomeOf(check, t, group, read) {
  let answer
  try {
    answer = await check(t, group, read)
  } catch (error) {
    if (!(error instanceof Malformed || error instanceof CheckFailed)) throw error
    answer = error instanceof CheckFailed && t.check != null && error.check !== t.check
  }
  return answer === (t.result !== 'invalid') ? 'agree' : 'disagree'
}

/**
 * What comes of each test of a file of vectors: `agree`, `disagree`, or why that is not told.
 *
 * @param {{ testGroups: Group[] }} vectors the file
 * @param {Read} read
 */
export async function * outcomes({ testGroups }, read) {
  for (const group of testGroups) {
    const check = await checkOf(group.type)
    for (const t of group.tests) {
      const outcome = check === undefined ? `left out ${group.type}` : await outcomeOf(check, t, group, read)
      yield { type: group.type, t, outcome }
    }
  }
}
