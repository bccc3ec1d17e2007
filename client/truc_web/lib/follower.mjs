// A match that is followed without a key of one's own in it: by a watcher, or by a guest, whose acts are the server's word.
// Every record is checked all the same.

import { same } from './bytes.mjs'
import { Setup } from './proof/setup.mjs'
import { MODES, ledgerOf } from './proof/audit.mjs'
import { must } from './proof/records.mjs'

/** @typedef {import('./proof/ledger.mjs').Ledger} Ledger */
/** @typedef {import('./proof/records.mjs').Raw} Raw */

/** Give the setup to `begin`, then each record to `take`. */
export class Follower {
  /** @param {Uint8Array | null} spk the key that the server has proved */
  constructor(spk) {
    this.spk = spk
    /** @type {Setup | null} */
    this.setup = null
    /** @type {Ledger | null} */
    this.ledger = null
    /** @type {{ doc: Uint8Array, raws: Raw[] } | null} */
    this.failing = null     // the records up to the one that is being checked
  }

  get next() {
    return this.ledger?.k ?? -1
  }

  get mid() {
    return this.setup?.mid ?? null
  }

  /** @param {{ doc: Uint8Array, records: import('./seat.mjs').Sent[] }} message */
  async begin({ doc, records }) {
    const setup = new Setup(doc, await import('./rules/index.mjs'), MODES)
    for (const [signer, body, sig] of records) {
      this.failing = { doc, raws: [...setup.records, { signer, body, sig }] }
      await setup.attest({ signer, body, sig })
      setup.take({ signer, body, sig })
    }
    must(setup.done, 'C8', null)
    must(this.spk === null || same(setup.server.pk, this.spk), 'C9', null)
    Object.assign(this, { setup, ledger: await ledgerOf(setup) })
  }

  /** The next record; one that is known already must be the same. @param {Raw & { k: number }} record */
  async take({ k, signer, body, sig }) {
    const { ledger, setup } = /** @type {{ ledger: Ledger, setup: Setup }} */ (/** @type {unknown} */ (this))
    const raw = { signer, body, sig }
    this.failing = { doc: setup.document, raws: [...setup.records, ...ledger.records.slice(0, k), raw] }
    if (k < ledger.k) return must(same(ledger.records[k].body, body), 'C33', null)
    must(k === ledger.k, 'C10', null)
    await ledger.attest(raw)
    ledger.take(raw)
  }

  /** What has passed so far. */
  known() {
    const { ledger, setup } = /** @type {{ ledger: Ledger, setup: Setup }} */ (/** @type {unknown} */ (this))
    return { doc: setup.document, raws: [...setup.records, ...ledger.records] }
  }
}
