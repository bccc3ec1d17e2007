// The test vectors (docs/fairness/vectors.md): node vectors.mjs FOLDER
//
// One function for each type of group. It answers whether the fields of a test belong together; a test with the result
// "valid" must answer yes, an "invalid" one no, or be refused with Malformed or by the check that is named. A figure that
// a test does not give fits whatever came: an invalid test that gives none must be refused.

import { hkdfSync } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Malformed, H, decode, encode, sha256 } from './encoding.mjs'
import * as keys from './keys.mjs'
import { Chain, hashDown } from './chains.mjs'
import * as deals from './deals.mjs'
import * as boxes from './boxes.mjs'
import { CheckFailed, isAt, movesQuiet, nameOf, nextHead, readArgs, readRecord } from './records.mjs'
import { compare, readEvidenceFile, weigh } from './evidence.mjs'
import { checkHello, checkLogin, checkRevocation, fingerprint, rollBody } from './handshake.mjs'
import { shape } from './shapes.mjs'
import { verify } from './audit.mjs'

const hex = (text) => Buffer.from(text, 'hex')
const maybeHex = (text) => text === null ? null : hex(text)
const toHex = (value) => JSON.parse(JSON.stringify(value, function (key, item) {
  return Buffer.isBuffer(this[key]) ? this[key].toString('hex') : item
}))

// Whether values that hold bytes are what the vectors write: bytes in hex.
const same = (value, expected) => expected === undefined || isDeepStrictEqual(toHex(value), expected)

// A value of the encoding, as the vectors write it in JSON.
function valueOf(json) {
  if (Array.isArray(json)) return json.map(valueOf)
  return json !== null && typeof json === 'object' ? hex(json.bin) : json
}

function isValue(body, json) {
  const value = decode(body)
  return json === undefined || isDeepStrictEqual(value, valueOf(json))
}

const linksOf = (links) => links.map(([role, link]) => [role, hex(link)])
const rawOf = ([signer, body, sig]) => ({ signer, body: hex(body), sig: hex(sig) })
const seatPlace = (t, tag, ...rest) => ['truc/1/' + tag, hex(t.mid), t.seat, t.at, ...rest]

// A box, by its `info`. An invalid one does not say what would be in it: one that opens all the same, to the right
// shape, answers yes. `open` and `seal` are functions of the key.
function isBox(t, info, expected, open, seal) {
  const key = boxes.boxKey(hex(t.shared), hex(t.mid), info)
  const value = open(key, hex(t.box))
  if (expected === undefined) return true
  return isDeepStrictEqual(value, expected) && same(key, t.key) && same(seal(key, value), t.box)
}

function handBox(t, info) {
  return isBox(t, info, t.hand?.map(([card, salt]) => [card, hex(salt)]), boxes.openHand, boxes.sealHand)
}

const optionsShape = shape('options [[t, array, t, [[t, hint]]]]')
const optionsOf = (value) => optionsShape([value]).options
const wordShape = shape('word t')
const wordOf = (value) => [wordShape(value).word]

function privateBox(t, place, contentOf, expected) {
  const nonce = t.epoch === undefined ? null : boxes.counterNonce(t.epoch, t.number)
  return (t.nonce === undefined || same(nonce, t.nonce)) && isBox(t, ['truc/1/private', t.seat], expected && valueOf(expected),
    (key, box) => contentOf(boxes.openPrivate(key, box, place, t.after)),
    (key, value) => boxes.sealPrivate(key, nonce, value, place, t.fill))
}

function signUpBox(t) {
  const place = seatPlace(t, 'sign-up', t.to)
  return isBox(t, ['truc/1/private-up', t.seat], t.word && [t.word],
    (key, box) => wordOf(boxes.openUp(key, box, place)),
    (key, value) => boxes.sealUp(key, hex(t.nonce), value, place))
}

function isLink(t, group) {
  const [pk, tn, link, root] = [group.public, group.tn, t.link, group.root].map(hex)
  const last = group.first + group.count
  const chain = new Chain(pk, tn, group.first, group.count, hex(group.anchor))
  return chain.fits(t.index, link) && hashDown(pk, tn, root, last, group.first).equals(chain.anchor) &&
    hashDown(pk, tn, root, last, t.index).equals(link)
}

function isDeal(t) {
  const [mid, seed] = [hex(t.mid), hex(t.seed)]
  const dealt = deals.dealAll({ ...t, mid, seed }, t.deals.length).map((deal, d) =>
    ({ ...deal, digests: deal.leaves.map((leaves, q) => deals.handDigest(mid, t.j, d, q, leaves)) }))
  return isDeepStrictEqual(deals.orderOf(seed, t.deck, t.cut), t.order) && same(dealt, t.deals)
}

function isStream(t) {
  const stream = new deals.Stream(hex(t.seed))
  return [...hex(t.start)].every((byte) => byte === stream.byte())
}

// A body by itself: its args are read as if every card were in the pack.
function isRecord(t) {
  const record = readRecord(rawOf([t.signer, t.body, t.sig]))
  const { kind, args, ruling } = record.fields
  if (args !== undefined && (ruling === undefined || ruling === 'move')) readArgs(kind, args, Infinity)
  return isValue(record.body, t.value)
}

function isIds(t) {
  const [tag, th, seats] = decode(hex(t.match))
  return tag === 'truc/1/match' && same(th, t.th) && same(sha256(hex(t.table)), t.th) &&
    same(seats, t.seats.map((body) => sha256(hex(body)).toString('hex'))) && same(sha256(hex(t.match)), t.mid)
}

const kindOf = (body) => decode(body)[0].slice('truc/1/'.length)

function isHeads(t) {
  const [heads, parallel] = [[hex(t.mid)], [0]]
  t.records.map(rawOf).forEach((raw, k) => {
    heads.push(nextHead(heads[k], raw))
    parallel.push(movesQuiet(kindOf(raw.body)) ? k + 1 : parallel[k])
  })
  return same(heads, t.heads) && isDeepStrictEqual(parallel, t.parallel)
}

function isBound(t) {
  const [, mid, k, head] = decode(hex(t.body))
  const binding = movesQuiet(kindOf(hex(t.body))) ? 'P' : 'Q'
  const place = binding === 'P' ? { mid, k: t.position, head: hex(t.head) } : { mid, k: t.k0, head: hex(t.head0) }
  return binding === t.binding && isAt({ mid, k, head }, place)
}

function isPlayer(t) {
  const info = encode(['truc/1/player', hex(t.spk)])
  const seed = Buffer.from(hkdfSync('sha256', hex(t.master), Buffer.alloc(0), info, 32))
  return same(seed, t.seed) && same(keys.signingKeyOf(seed), t.public)
}

function isHello(t) {
  const { present, first } = t.known ?? {}
  const known = present ? { ...t.known, present: hex(present), first: hex(first) } : t.known
  const client = { ...t, frame: hex(t.client_frame), cert: maybeHex(t.cert), known, revoked: t.revoked.map(hex) }
  const rolls = t.rolls.map((roll) => roll.map(hex))
  const { sn, trust, pin } = checkHello(client, { body: hex(t.body), sig: hex(t.sig), info: hex(t.info), rolls })
  return isValue(hex(t.body), t.value) && same({ sn, trust, pin }, t.pin && { sn: t.sn, trust: t.trust, pin: t.pin })
}

function isLogin(t) {
  const [spk, cn, sn, frame] = [t.spk, t.cn, t.sn, t.server_frame].map(hex)
  const pk = checkLogin({ spk, cn, sn, frame, revoked: t.revoked.map(hex) }, { body: hex(t.body), sig: hex(t.sig) })
  return isValue(hex(t.body), t.value) && same(pk, t.pk)
}

function isRoll(t) {
  const [old, next] = [t.old_seed, t.new_seed].map(hex)
  const body = rollBody(keys.signingKeyOf(old), keys.signingKeyOf(next), t.serial, t.not_before)
  return isValue(body, t.value) && same([body, keys.sign(old, body), keys.sign(next, body)], [t.body, t.sig_old, t.sig_new])
}

function asItem(text) {
  const bytes = hex(text)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

const listOf = (items) => Buffer.concat([Buffer.from('truc transcript 1\n'), ...items.map(asItem)])
const culpritOf = ({ culprit }) => culprit === null ? null : nameOf(culprit)

// Tampered transcripts. What only the rules show passes here: the answer is null then, "not for us to say".
const NEEDS_RULES = ['C20', 'C22', 'C23', 'C24', 'C25']

function isJudged(t, bytes) {
  const verdict = verify(bytes)
  if (NEEDS_RULES.includes(t.check) && verdict.result !== 'refuted') return null
  const wanted = [t.result, t.check, t.culprit, t.record, t.setup]
  return isDeepStrictEqual([verdict.result, verdict.check, culpritOf(verdict), verdict.record, verdict.setup], wanted)
}

function isFileJudged(t, group, folder) {
  const bytes = readFileSync(join(folder, group.file))
  return isJudged(t, Buffer.concat([bytes.subarray(0, t.at), hex(t.insert), bytes.subarray(t.at + t.remove)]))
}

function isWeighed(t, group) {
  const [item] = readEvidenceFile(hex(t.file))
  const shown = weigh(item, verify(listOf([group.document, ...group.items])))
  if (t.result === 'invalid') return shown.check !== null || shown.judgement !== (t.judgement ?? null)
  return isDeepStrictEqual([shown.check, shown.record, culpritOf(shown), shown.judgement],
    [t.check, t.record, t.culprit, t.judgement ?? null])
}

function isPair(t, group) {
  const lists = [t.first, t.second].map((items) => verify(listOf([group.document, ...group.items, ...items])))
  const found = compare(...lists, []).map((one) => [one.check, culpritOf(one)])
  return isDeepStrictEqual(found, t.found) === (t.result === 'valid')
}

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
  signature: (t) => keys.signatureHolds(hex(t.public), hex(t.body), hex(t.signature)),
  'box-admission': (t) => keys.isSoundBoxKey(hex(t.x)),
  exchange: (t) => same(keys.exchange(hex(t.secret), hex(t.peer)), t.shared) && same(keys.boxKeyOf(hex(t.secret)), t.public),
  fingerprint: (t) => fingerprint(hex(t.spk)) === t.fingerprint,
  player: isPlayer,
  hello: isHello,
  login: isLogin,
  roll: isRoll,
  revoke: (t) => same(checkRevocation(hex(t.body), hex(t.sig)), t.pk) && isValue(hex(t.body), t.value),
  'evidence-file': (t) => readEvidenceFile(hex(t.file)).length === t.count,
  complaint: isWeighed,
  refusal: isWeighed,
  pair: isPair,
  list: (t, group) => isJudged(t, listOf([group.document, ...group.items.slice(0, t.keep), ...t.then])),
  file: isFileJudged
}

// 'agree', 'disagree', or why it is not told. The tests of transcripts compare a whole verdict, whatever their result.
function outcomeOf(check, t, group, folder) {
  let answer
  try {
    answer = check(t, group, folder)
  } catch (error) {
    if (!(error instanceof Malformed || error instanceof CheckFailed)) throw error
    answer = error instanceof CheckFailed && t.check != null && error.check !== t.check
  }
  if (answer === null) return `only the rules can tell ${t.check}`
  return answer === (t.result !== 'invalid') ? 'agree' : 'disagree'
}

function runFile(path, count) {
  for (const group of JSON.parse(readFileSync(path)).testGroups) {
    const check = GROUPS[group.type]
    for (const t of group.tests) {
      const outcome = check === undefined ? `left out ${group.type}` : outcomeOf(check, t, group, dirname(path))
      count[outcome] = (count[outcome] ?? 0) + 1
      if (outcome === 'disagree') console.log(`${path}: ${group.type} ${t.tcId} (${t.comment}) is said to be ${t.result}`)
    }
  }
}

function main(folder) {
  const count = { agree: 0, disagree: 0 }
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = join(folder, entry.name)
    const inside = entry.isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path]
    inside.filter((name) => name.endsWith('.json')).forEach((name) => runFile(name, count))
  }
  const { agree, disagree, ...others } = count
  Object.entries(others).forEach(([outcome, tests]) => console.log(`${outcome}: ${tests} tests`))
  console.log(`${agree} agree, ${disagree} disagree`)
  return disagree > 0 ? 1 : 0
}

process.exitCode = main(process.argv[2])
