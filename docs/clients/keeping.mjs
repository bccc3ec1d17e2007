// What a player with a key must not forget (docs/fairness/specification.md, section 13): one JSON file, which only its
// owner may read, written whole and to the disk before anything is sent that stands in it.
//
// { master, pins: { "host:port": { first, present, serial } }, tables: { th: … } }; what stands in a table, seat.mjs
// says. Two programs must not use one file at the same time.

import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'

const MARK = 'hex:'     // bytes are strings of hex after this mark

const toText = (_, value) => value?.type === 'Buffer' ? MARK + Buffer.from(value.data).toString('hex') : value
const fromText = (_, value) =>
  typeof value === 'string' && value.startsWith(MARK) ? Buffer.from(value.slice(MARK.length), 'hex') : value

export class Keeping {
  constructor(path) {
    this.path = path
    this.kept = existsSync(path)
      ? JSON.parse(readFileSync(path, 'utf8'), fromText)
      : { master: randomBytes(32), pins: {}, tables: {} }
    this.save()
  }

  // The new file takes the place of the old one only when it is there to stay.
  save() {
    const fresh = `${this.path}.new`
    const file = openSync(fresh, 'w', 0o600)
    writeSync(file, JSON.stringify(this.kept, toText))
    fsyncSync(file)
    closeSync(file)
    renameSync(fresh, this.path)
  }
}
