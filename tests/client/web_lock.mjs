// A tab from which another takes the key while it still asks the program that serves it where to connect, and whose
// database does not open: node web_lock.mjs throws|hangs

import { strictEqual } from 'node:assert'

const told = []
let answer, lose, connections = 0
const locks = {
  request: (name, how, then) => new Promise((resolve, reject) => {
    lose = () => reject(new Error('stolen'))
    then({}).then(resolve, reject)
  })
}
Object.defineProperty(globalThis, 'navigator', { value: { locks } })
Object.assign(globalThis, {
  indexedDB: { open() { if (process.argv[2] === 'throws') throw new Error('keeps nothing'); return {} } },
  setTimeout: (then, _ms, ...given) => setImmediate(then, ...given),
  isSecureContext: false,
  location: { origin: 'http://localhost:1' },
  postMessage: (event) => told.push(event.what),
  fetch: () => new Promise((resolve) => { answer = resolve }),
  WebSocket: class { constructor() { connections += 1 } }
})
const settle = () => new Promise((resolve) => setImmediate(resolve))

await import('../../client/truc_web/page/worker.mjs')
await globalThis.onmessage({ data: { do: 'begin', isCarried: true } })
await settle()
lose()
await settle()
answer?.({ ok: true, json: async () => ({ server: 'host:1' }) })
for (let i = 0; i < 5; i++) await settle()
strictEqual(typeof answer, 'function')
strictEqual(told.at(-1), 'second', `${told}`)
strictEqual(connections, 0)
process.exit()
