// A watcher without a seat (client/truc_web/lib/follower.mjs) checks the records of a transcript as they come: node following.mjs FILE

import { readFileSync } from 'node:fs'
import { Follower } from '../../client/truc_web/lib/follower.mjs'
import { TRANSCRIPT, itemsOf, readItem } from '../../client/truc_web/lib/proof/files.mjs'

const [doc, ...items] = itemsOf(readFileSync(process.argv[2]), TRANSCRIPT)
const raws = items.map(readItem)
const seats = 2
const setup = raws.slice(0, 2 + seats)
const follower = new Follower(null)
await follower.begin({ doc, records: setup.map(({ signer, body, sig }) => [signer, body, sig]) })
for (const [k, raw] of raws.slice(setup.length).entries()) await follower.take({ k, ...raw })
console.log(follower.ledger.phase)
