// Runs a client of docs/clients once for each line that comes in, with the words of that line as its arguments, and writes
// its exit code: node host.mjs PROGRAM. For programs that end by themselves, without `process.exit`.

import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const program = process.argv[2]
let runs = 0
console.log = console.error = () => {}
for await (const line of createInterface({ input: process.stdin })) {
  process.argv = [process.argv[0], program, ...line.split('\t')]
  process.exitCode = undefined
  await import(`${pathToFileURL(program)}?run=${runs++}`).catch(() => { process.exitCode = 1 })
  process.stdout.write(`${process.exitCode ?? 0}\n`)
}
