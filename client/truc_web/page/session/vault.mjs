// What a browser must not forget: the player's key, the servers it has met, what it has signed at each table, and the
// transcripts. One database an origin. Secrets never leave this file but as the text that a player asks for.

import { fromHex, toHex } from '../../lib/bytes.mjs'
import { playerOf } from '../../lib/login.mjs'
import { randomBytes } from '../../lib/platform.mjs'
import { playerSeed } from '../../lib/proof/handshake.mjs'
import { signingKeyOf } from '../../lib/proof/keys.mjs'

const NAME = 'truc'
const EXPORT_HEAD = 'truc player key 1'
const PKCS8_ED25519 = '302e020100300506032b657004220420'
const MOST_MATCHES = 200     // whose transcripts are kept
const SEED = 32

/** @typedef {import('../../lib/seat.mjs').Store} Store */
/** @typedef {import('../../lib/login.mjs').Me} Me */
/** @typedef {import('../../lib/proof/handshake.mjs').Pin} Pin */

/**
 * A match as it is kept.
 *
 * @typedef {object} KeptMatch
 * @property {string} match its id, in hex
 * @property {string} variant
 * @property {string[]} names
 * @property {number | null} seat
 * @property {number} ended when, in Unix milliseconds
 * @property {number | null} winner the side
 * @property {boolean} isOver whether its end is there
 * @property {import('./plain.mjs').Rules} rules
 * @property {[k: number, means: any[]][]} story what the records mean
 * @property {string | null} failed the check that has failed; `unsound` where none has a number for it
 * @property {Uint8Array} file the transcript
 * @property {Uint8Array | null} known the other history, where the server has shown two
 */

/** Something could not be stored: nothing that rests on it may be sent. */
export class NotKept extends Error {}

/** Open the database; throws where the browser has none, or keeps nothing. @returns {Promise<Vault>} */
export async function openVault() {
  const opening = indexedDB.open(NAME, 1)
  opening.onupgradeneeded = () => {
    for (const store of ['self', 'pins', 'tables', 'matches']) opening.result.createObjectStore(store)
  }
  const database = await done(opening)
  const vault = new Vault(database)
  await vault.load()
  return vault
}

/** @implements {Store} */
export class Vault {
  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database
    /** @type {Store['kept']} */
    this.kept = { master: new Uint8Array(0), pins: {}, tables: {} }
    /** @type {Record<string, any>} */
    this.self = {}     // name, token, saved, locked
  }

  async load() {
    const stores = this.begin(['self', 'pins', 'tables'])
    const [self, pins, tables] = await Promise.all(['self', 'pins', 'tables'].map((name) => all(stores.objectStore(name))))
    this.self = self
    this.kept = { master: self.master ?? new Uint8Array(0), pins, tables }
  }

  /** Whether there is a key here that can sign. */
  get hasKey() {
    return this.kept.master.length === SEED || Object.keys(this.self.locked ?? {}).length > 0
  }

  /** What the player is called, asked once. @returns {string | null} */
  get name() {
    return this.self.name ?? null
  }

  /** @param {string | null} name */
  rename(name) {
    return this.put('name', name)
  }

  /** A guest's, for the next login. @returns {string | null} */
  get token() {
    return this.self.token ?? null
  }

  /** @param {string | null} token */
  keepToken(token) {
    return this.put('token', token)
  }

  /** The pin of a server, stored before anything else is said to it. @param {string} server @param {Pin} pin */
  async pin(server, pin) {
    this.kept.pins[server] = pin
    await this.write('pins', server, pin)
  }

  /**
   * Who plays at a server; a key is made where there is none.
   *
   * @param {Pin} pin
   * @returns {Promise<Me>}
   */
  async me(pin) {
    const locked = this.self.locked?.[toHex(pin.first)]
    if (locked !== undefined) return { pk: locked.pk, sign: (body) => signWith(locked.key, body) }
    if (this.kept.master.length === 0) {
      this.kept.master = randomBytes(SEED)
      await this.write('self', 'master', this.kept.master)
    }
    return playerOf(this.kept.master, pin)
  }

  /** The player's key as `truc keys import` takes it; null where it is locked in. */
  get text() {
    return this.kept.master.length === SEED ? `${EXPORT_HEAD}\n${toHex(this.kept.master)}\n` : null
  }

  /** The player has the text. */
  saved() {
    return this.put('saved', true)
  }

  /** @param {string} text what `truc keys export` has printed @returns {Promise<boolean>} whether it is one */
  async take(text) {
    const [head, digits = '', ...rest] = text.trim().split(/\r?\n/)
    if (head.trim() !== EXPORT_HEAD || rest.length > 0 || !/^[0-9a-f]{64}$/.test(digits.trim())) return false
    this.kept.master = fromHex(digits.trim())
    await this.put('locked', {})
    await this.put('saved', true)
    await this.write('self', 'master', this.kept.master)
    return true
  }

  /**
   * From now on no script of this page, and no text, has the key; it signs while the page is open.
   *
   * @param {Pin} pin of the server that it is for
   */
  async lock(pin) {
    const seed = playerSeed(this.kept.master, pin.first)
    // imported so that it can sign and never be read again, not by this page either
    const bytes = new Uint8Array([...fromHex(PKCS8_ED25519), ...seed])
    const key = await crypto.subtle.importKey('pkcs8', bytes, 'Ed25519', false, ['sign'])
    await this.put('locked', { [toHex(pin.first)]: { key, pk: await signingKeyOf(seed) } })
    await this.put('master', undefined)
    this.kept.master = new Uint8Array(0)
  }

  /** The table that has changed, on the disk; without it every one. @param {string} [th] */
  async save(th) {
    const { tables } = this.kept
    for (const name of th === undefined ? Object.keys(tables) : [th]) await this.write('tables', name, tables[name])
  }

  /**
   * One that is over stays as it was kept first, with those who were there: they may have left since. What a check has left to
   * show stays too: without a key the match is followed again after a reload, and may pass then.
   *
   * @param {KeptMatch} match
   */
  async keep(match) {
    const before = await this.match(match.match)
    if (match.failed === null && before !== null && (before.isOver || before.failed !== null)) return
    await this.write('matches', match.match, match)
    const kept = await this.matches()
    for (const old of kept.slice(MOST_MATCHES)) await this.write('matches', old.match, undefined)
  }

  /** Newest first. @returns {Promise<KeptMatch[]>} */
  async matches() {
    const kept = await all(this.begin('matches').objectStore('matches'))
    return Object.values(kept).sort((a, b) => b.ended - a.ended)
  }

  /** @param {string} match @returns {Promise<KeptMatch | null>} */
  async match(match) {
    return await done(this.begin('matches').objectStore('matches').get(match)) ?? null
  }

  /** Everything is deleted; the next visit is a first one. */
  async forget() {
    const names = [...this.database.objectStoreNames]
    const writing = this.begin(names)
    names.forEach((name) => writing.objectStore(name).clear())
    await finished(writing)
    await this.load()
  }

  /** @param {string} key of what the player is here @param {unknown} value */
  async put(key, value) {
    this.self[key] = value
    await this.write('self', key, value)
  }

  /** On the disk when the promise is kept. @param {string} store @param {string} key @param {unknown} value */
  async write(store, key, value) {
    const writing = this.begin(store)
    if (value === undefined) writing.objectStore(store).delete(key)
    else writing.objectStore(store).put(value, key)
    await finished(writing)
  }

  /** @param {string | string[]} store one or several @returns {IDBTransaction} */
  begin(store) {
    try {
      return this.database.transaction(store, 'readwrite', { durability: 'strict' })
    } catch (fault) {
      // the browser has closed the database: its disk fails, or its data were deleted
      throw new NotKept(`${fault}`)
    }
  }
}

/** @param {CryptoKey} key @param {Uint8Array} body */
const signWith = async (key, body) => new Uint8Array(await crypto.subtle.sign('Ed25519', key, body))

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
const finished = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve()
  transaction.onabort = transaction.onerror = () => reject(new NotKept(transaction.error?.message))
})

/** @param {IDBObjectStore} store @returns {Promise<Record<string, any>>} */
async function all(store) {
  const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())])
  return Object.fromEntries(keys.map((key, i) => [String(key), values[i]]))
}
