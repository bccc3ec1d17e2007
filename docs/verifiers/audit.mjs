// Section 12: the verdict on one transcript (C41, C42).

import { Malformed } from './encoding.mjs'
import { TRANSCRIPT, itemsOf, readItem } from './files.mjs'
import { CheckFailed } from './records.mjs'
import { Setup } from './setup.mjs'
import { Ledger } from './ledger.mjs'

const DOCUMENT_LIMIT = 16384

// { result, check, culprit, record, setup, table, ledger }. What fails stands at `record`, its k, or at `setup`, its
// number from the table record. `table` is what the setup told, `ledger` what the records told as far as they pass.
export function verify(bytes) {
  const audit = new Audit()
  try {
    for (const item of itemsOf(bytes, TRANSCRIPT)) audit.take(item)
    if (audit.table === null) throw new Malformed('no rule document')
    return audit.verdict(audit.ledger?.phase === 'ended' ? 'proven' : 'incomplete', null, null)
  } catch (error) {
    if (error instanceof CheckFailed) return audit.verdict('refuted', error.check, error.culprit)
    if (error instanceof Malformed) return audit.verdict('unreadable', 'C41', null)
    throw error
  }
}

class Audit {
  constructor() {
    this.table = null
    this.ledger = null
  }

  take(item) {
    if (this.table === null) {
      if (item.length > DOCUMENT_LIMIT) throw new Malformed('no rule document')
      this.table = new Setup(item)
    } else if (this.ledger === null) {
      this.table.take(readItem(item))
      if (this.table.done) this.ledger = new Ledger(this.table)
    } else {
      this.ledger.take(readItem(item))
    }
  }

  verdict(result, check, culprit) {
    const { table, ledger } = this
    // A file that breaks in the document or the table record is unreadable as a whole.
    const hasPlace = check !== null && (result !== 'unreadable' || Boolean(table?.terms))
    const record = hasPlace ? ledger?.k ?? null : null
    const setup = hasPlace && ledger === null ? table.records.length : null
    return { result, check, culprit, record, setup, table, ledger }
  }
}
