// How long the verifier in JavaScript takes for a file: node verified.mjs FILE ROUNDS. The quickest round counts, as with ours.

import { readFileSync } from 'node:fs'
import { verify } from '../../client/truc_web/lib/index.mjs'

const [file, rounds] = process.argv.slice(2)
const bytes = readFileSync(file)
const took = []
for (let i = 0; i < Number(rounds); i += 1) {
  const begun = performance.now()
  const { result } = await verify(bytes)
  if (result !== 'proven') throw new Error(`${file} is ${result}`)
  took.push(performance.now() - begun)
}
console.log(JSON.stringify({ verified_ms: Math.min(...took) }))
