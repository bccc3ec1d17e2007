// Section 12: the verdict on one transcript (C41, C42).

import { Malformed } from './encoding.mjs'
import { TRANSCRIPT, itemsOf, readItem } from './files.mjs'
import { CheckFailed, wordOfServer } from './records.mjs'
import { Setup } from './setup.mjs'
import { Ledger } from './ledger.mjs'

const DOCUMENT_LIMIT = 16384

/** The ledger of a table, by its mode; what is not of mode `dealt` is loaded when it is needed. @type {Record<string, (table: Setup) => Promise<Ledger>>} */
const LEDGERS = {
  dealt: async (table) => new Ledger(table),
  blind: async (table) => new Ledger(table, (await import('../blind/mode.mjs')).BLIND)
}

/** The modes of tables that are judged. */
export const MODES = Object.keys(LEDGERS)

/** What takes the records of a match whose setup is done. @param {Setup} table */
export const ledgerOf = (table) => LEDGERS[table.terms.mode](table)

/** Whether the records of the hands that are over show that the server could not see their cards. @param {Ledger} ledger */
export const hostSawNoCard = ({ terms, hands, unopened, exposed }) =>
  terms.mode === 'blind' && hands.length > 0 && unopened.length === 0 && exposed?.kind !== 'cheat'

/**
 * @typedef {object} Verdict
 * @property {'proven' | 'refuted' | 'unreadable' | 'incomplete'} result
 * @property {string | null} check the check that fails, such as `C14`
 * @property {number | null} culprit the role of who is to blame (`nameOf`), null if the records show nobody
 * @property {number | null} record what fails, by its k
 * @property {number | null} setup or in the setup by its number from the table record
 * @property {Setup | null} table what the setup told
 * @property {Ledger | null} ledger what the records told as far as they pass
 * @property {import('./records.mjs').TypedRecord | null} failed the record that fails, if the server has signed it
 */

/**
 * The verdict on a transcript.
 *
 * @param {Uint8Array} bytes the whole file
 * @returns {Promise<Verdict>}
 */
export async function verify(bytes) {
  const audit = new Audit(await import('../rules/index.mjs'))
  try {
    for (const item of itemsOf(bytes, TRANSCRIPT)) await audit.take(item)
    if (audit.table === null) throw new Malformed('no rule document')
    return audit.verdict(audit.ledger?.phase === 'ended' ? 'proven' : 'incomplete', null, null)
  } catch (error) {
    if (error instanceof CheckFailed) return audit.verdict('refuted', error.check, error.culprit)
    if (error instanceof Malformed) return audit.verdict('unreadable', 'C41', null)
    throw error
  }
}

class Audit {
  /** @param {import('./setup.mjs').Engine} engine */
  constructor(engine) {
    this.engine = engine
    /** @type {Setup | null} */
    this.table = null
    /** @type {Ledger | null} */
    this.ledger = null
    /** @type {import('./records.mjs').Raw | null} */
    this.newest = null
  }

  /** @param {Uint8Array} item */
  async take(item) {
    if (this.table === null) {
      if (item.length > DOCUMENT_LIMIT) throw new Malformed('no rule document')
      this.table = new Setup(item, this.engine, MODES)
      return
    }
    const record = this.newest = readItem(item)
    const taker = this.ledger ?? this.table
    await taker.attest(record)
    taker.take(record)
    if (this.ledger === null && this.table.done) this.ledger = await ledgerOf(this.table)
  }

  /**
   * @param {Verdict['result']} result
   * @param {string | null} check
   * @param {number | null} culprit
   * @returns {Verdict}
   */
  verdict(result, check, culprit) {
    const { table, ledger } = this
    // A file that breaks in the document or the table record is unreadable as a whole.
    const hasPlace = check !== null && (result !== 'unreadable' || Boolean(table?.terms))
    const record = hasPlace ? ledger?.k ?? null : null
    const setup = hasPlace && ledger === null ? table?.records.length ?? null : null
    const failed = result === 'refuted' && this.newest ? wordOfServer(this.newest, table?.server?.pk) : null
    return { result, check, culprit, record, setup, table, ledger, failed }
  }
}
