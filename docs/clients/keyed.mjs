// A player with a key, for Node 18 or later, on client/truc_web/lib: signs one match of whatever game at random, and checks
// every record of it.
//
// node keyed.mjs truc://HOST:PORT/TABLE#FINGERPRINT [--keep FILE] [--out FILE] [--revocation FILE]
//
// trucs:// for a server with TLS
//
// Exit code 0: the match is over, and everything passes. 3: a check has failed; nothing was signed after it. 1: else.
// The transcript, as far as there is one, is written to --out: node ../verifiers/verify.mjs FILE reads it. Where the
// server showed another history before, that is FILE.known.

import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Player, Stopped, comeBack, placeOf } from '../../client/truc_web/lib/index.mjs'
import { connect, openStore } from '../../client/truc_web/lib/platform_node.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true, options: {
    keep: { type: 'string', default: 'keyed.json' }, out: { type: 'string' }, revocation: { type: 'string' }
  }
})

function keep(transcript, known) {
  if (values.out === undefined) return
  writeFileSync(values.out, transcript)
  if (known !== null) writeFileSync(`${values.out}.known`, known)     // beside it the two histories are seen
}

// In place of `anyOption`, its default, `choose` may be given: a function from the options to one of them.
try {
  const player = new Player(placeOf(positionals), {
    connect, store: openStore(values.keep), tell: console.log, keep,
    revocations: values.revocation === undefined ? [] : [readFileSync(values.revocation, 'utf8')]
  })
  console.log(await comeBack(player))
} catch (error) {
  if (!(error instanceof Stopped)) throw error
  console.error(error.message)
  process.exitCode = error.isFailure ? 3 : 1
}
