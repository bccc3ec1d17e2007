// What the page is told by its worker at each seat of the traces (tests/vectors/traces), and where nobody sits: the
// frames go through the page's session as they came over the wire, with the secrets that a trace gives away.

import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'

import { Session } from '../../client/truc_web/page/session/session.mjs'
import { Setup, decode, fromHex, loadRules, same, toHex, unpack } from '../../client/truc_web/lib/index.mjs'
import { hashDown } from '../../client/truc_web/lib/proof/chains.mjs'
import { sha256 } from '../../client/truc_web/lib/proof/encoding.mjs'
import { newBoxKeyOf, sign, signingKeyOf } from '../../client/truc_web/lib/proof/keys.mjs'

const FOLDER = new URL('../vectors/traces/', import.meta.url)
const SERVER = 'the server'
const OWED = ['truc/1/seat', 'truc/1/release', 'truc/1/ack']     // what the page signs without being asked
const read = (name) => readFileSync(new URL(name, FOLDER), 'utf8')
const INDEX = read('README.md')

/** The bytes behind a name, of a page or of what holds for all. */
function secretOf(page, name) {
  const found = new RegExp(`${name}[^\`\\n]*\`([0-9a-f]{64})\``).exec(page) ?? new RegExp(`${name}[^\`\\n]*\`([0-9a-f]{64})\``).exec(INDEX)
  return found && fromHex(found[1])
}

/** Every frame of a page: who sends it, who gets it. */
function framesOf(page) {
  return page.split(/^## \d+\. /m).slice(1).map((section) => {
    const [, from, to] = /^(.*) to (.*): /.exec(section)
    const raw = fromHex(/^```hex\n([^`]*)```/m.exec(section)[1].replaceAll('\n', ''))
    return { from, to, payload: raw.subarray(4), message: unpack(raw.subarray(4)) }
  })
}

const isFor = ({ to }, name) => to === 'everybody' || to.split(' and ').includes(name)

/** A connection in which what a seat of the trace asked is answered as in the trace; what the session asks is kept. */
class TracedLine {
  asked = new Map()
  said = []
  isOpen = false
  isQuiet = false
  nextId = 0
  connection = { close() {} }
  open() { this.isOpen = true }
  ask(t, fields) { this.said.push({ t, ...fields }) }
  isAsking(t) { return [...this.asked.values()].some((request) => request.t === t) }
  answeredBy({ re }) {
    const request = this.asked.get(re) ?? {}
    this.asked.delete(re)
    return request
  }
}

/** A seat of a trace, or a watcher: what the page is told there. */
class Visit {
  constructor(page, name, spk) {
    this.page = page
    this.name = name
    this.told = []
    this.lines = []
    this.signed = []     // the bodies that the trace's own player signed
    const tell = (event) => this.told.push(structuredClone(event))
    const vault = { kept: { master: new Uint8Array(32), pins: {}, tables: {} }, name, token: null, async save() {}, async keep() {}, async keepToken() {} }
    this.session = new Session({ connect: null, server: '', invite: null, vault, whyGuest: null, tell })
    this.session.met = { pin: { present: spk }, info: { caps: {} } }
    this.session.name = name
    this.connect()
  }

  connect() {
    this.lines.push(this.session.line = new TracedLine())
  }

  async play(frames) {
    if (secretOf(this.page, `${this.name}'s X25519 secret`) !== null) await this.hold(frames)
    for (const frame of frames) {
      if (frame.from === this.name) this.say(frame.message)
      else if (frame.from === SERVER && isFor(frame, this.name)) await this.hear(frame)
    }
    return this
  }

  /** The key of a player, and the secrets of this match. */
  async hold(frames) {
    const [secret, root, seed] = [`${this.name}'s X25519 secret`, `root of ${this.name}'s chain`, `seed of ${this.name}'s Ed25519 key`].map((name) => secretOf(this.page, name))
    const pk = await signingKeyOf(seed)
    this.session.me = { pk, sign: (body) => sign(seed, body) }
    const { doc, record: [signer, body, sig] } = frames.find(({ message }) => message.t === 'terms').message
    const setup = new Setup(doc, await loadRules())
    await setup.attest({ signer, body, sig })
    setup.take({ signer, body, sig })
    const { th, terms: { tn, links } } = setup
    const chain = { first: 0, root, anchor: hashDown(pk, tn, root, links, 0), secret, x: await newBoxKeyOf(secret), counter: '-1' }
    const seat = frames.filter(({ message, from }) => message.t === 'welcome' && from === SERVER).findIndex((frame) => isFor(frame, this.name))
    this.own = this.session.vault.kept.tables[toHex(th)] = { tn, seat, mid: null, stopped: null, accepted: null, signed: {}, refused: [], chains: [chain] }
  }

  say(message) {
    if (message.t === 'hello' && this.session.line.isOpen) this.connect()
    this.session.line.asked.set(message.id, { t: message.t, fields: message })
    if (message.t !== 'act' || message.body === undefined) return
    this.signed.push(message.body)
    const [tag] = decode(message.body)
    if (['truc/1/act', 'truc/1/resign'].includes(tag)) this.own.signed[`${tag} of the trace ${this.signed.length}`] = [message.body, message.sig]
  }

  async hear({ message, payload }) {
    if (message.t === 'hello') this.session.line.answeredBy(message)
    else await this.session.take(message, payload)
  }
}

/** What everybody is told of a match, from its setup on: what a watcher is shown. */
async function watched(page, frames, spk) {
  const visit = new Visit(page, 'everybody', spk)
  const { table } = frames.find(({ message }) => message.t === 'table').message
  visit.session.attend(table, null)
  for (const { from, to, message } of frames) {
    if (from === SERVER && to === 'everybody' && message.t !== 'terms') await visit.session.take(message, null)
  }
  return visit
}

const namesOf = (frames) => [...new Set(frames.map(({ from }) => from).filter((from) => from !== SERVER))]

/**
 * Every seat of every trace, and a watcher of each.
 *
 * @returns {Promise<{ trace: string, name: string, table: string, events: any[] }[]>}
 */
export async function visits() {
  const found = []
  for (const file of readdirSync(FOLDER).filter((name) => name !== 'README.md').sort()) {
    const page = read(file)
    const frames = framesOf(page)
    const spk = await signingKeyOf(secretOf(page, "seed of the server's Ed25519 key"))
    const { table } = frames.find(({ message }) => message.t === 'table').message
    const came = [await watched(page, frames, spk)]
    for (const name of namesOf(frames)) came.push(await new Visit(page, name, spk).play(frames))
    for (const { name, told, lines, signed } of came) {
      const ours = lines.flatMap(({ said }) => said).filter(({ t, body }) => t === 'act' && body !== undefined)
      const owed = signed.filter((body) => OWED.includes(decode(body)[0]))
      assert(owed.every((body) => ours.some((one) => same(one.body, body))), `${file}: ${name} signs by itself what is owed in the trace`)
      found.push({ trace: file, name, table, events: told.filter(({ what }) => what !== 'reply') })
    }
  }
  return found
}

/**
 * What a page is told that comes back to a seat whose match a check has stopped before.
 *
 * @param {any} kept what its browser has of the match; null for nothing
 */
export async function stoppedBefore(kept) {
  const page = read('coming-back.md')
  const frames = framesOf(page)
  const visit = new Visit(page, 'Ana', await signingKeyOf(secretOf(page, "seed of the server's Ed25519 key")))
  visit.session.vault.match = async (match) => kept && { ...kept, match }
  await visit.hold(frames)
  visit.own.stopped = 'C22 fails'
  const { message } = frames.find(({ message: { t } }) => t === 'setup')
  await visit.session.attend(message.table, visit.own.seat)
  await visit.session.take(message, null)
  return { match: toHex(message.match), failed: visit.told.find(({ what }) => what === 'failed') }
}

/**
 * What a page is told whose own act, the first in the trace, had been refused by signature and comes as a record all the same.
 *
 * @returns {Promise<{ acted: number, told: any[], signers: number[] }>} the position of the act; who has signed each record
 */
export async function refusedBefore() {
  const page = read('coming-back.md')
  const frames = framesOf(page)
  const visit = new Visit(page, 'Ana', await signingKeyOf(secretOf(page, "seed of the server's Ed25519 key")))
  const act = frames.find(({ from, message: { t, body } }) => from === 'Ana' && t === 'act' && decode(body)[0] === 'truc/1/act').message
  await visit.hold(frames)
  visit.own.refused.push(sha256(act.body))
  visit.hold = async () => {}
  await visit.play(frames)
  const records = frames.filter(({ from, message: { t } }) => from === SERVER && t === 'record').map(({ message }) => message)
  const signers = []
  for (const { k, signer } of records) signers[k] = signer
  return { acted: records.find(({ body }) => same(body, act.body)).k, told: visit.told, signers }
}

/**
 * The anchors that a seat names for a new chain: at first, once that was refused, and once another seat has brought the same.
 *
 * @returns {Promise<Uint8Array[]>}
 */
export async function anchorsNamed() {
  const page = read('coming-back.md')
  const frames = framesOf(page)
  const visit = new Visit(page, 'Ana', await signingKeyOf(secretOf(page, "seed of the server's Ed25519 key")))
  const begun = frames.findIndex(({ message: { t } }) => t === 'setup')
  const { message } = frames[begun]
  await visit.play(frames.slice(0, begun + 1))
  const { seat } = visit.session.attended.get(message.table).talk
  const named = async () => {
    for (const what of Object.keys(visit.own.signed).filter((name) => name.startsWith('rekey'))) delete visit.own.signed[what]
    return decode((await seat.rekey()).body)[6]
  }
  const [first, again] = [await named(), await named()]
  seat.ledger.used.claim({ anchor: first })
  return [first, again, await named()]
}
