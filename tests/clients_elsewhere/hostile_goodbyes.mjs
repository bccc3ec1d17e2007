// What a client in JavaScript does where a server asks for the longest wait that a message can say, or sends it to what is
// no place: node hostile_goodbyes.mjs. A timer of JavaScript counts to 2**31 milliseconds, and is over at once where it is
// given more.

import { deepStrictEqual, ok, rejects } from 'node:assert'
import { comeBack } from '../../client/truc_web/lib/coming_back.mjs'
import { Goodbye, Stopped } from '../../client/truc_web/lib/line.mjs'
import { Player } from '../../client/truc_web/lib/player.mjs'
import { connectWeb } from '../../client/truc_web/lib/web_socket.mjs'
import { Session } from '../../client/truc_web/page/session/session.mjs'

const LONGEST = 2 ** 53 - 1
const asked = []
globalThis.setTimeout = (then, ms) => {
  asked.push(ms)
  queueMicrotask(then)
}
const bye = () => new Goodbye({ code: 'shutting_down', msg: '', retryable: true, reconnect_after_ms: LONGEST })

let visits = 0
const visit = async () => {
  visits += 1
  throw visits === 1 ? bye() : new Stopped('enough')
}
await comeBack({ host: '', port: 1, failures: 0, visit }).catch(() => {})
const requests = []
const line = { ask: (t) => requests.push(t) }
await Player.prototype.takeError.call({ talk: null }, { code: 'rate_limited', retry_after_ms: LONGEST }, 'create', {}, line)
const told = []
const session = Object.assign(Object.create(Session.prototype), { failures: 0, tell: (event) => told.push(event) })
await session.pauseOrStop(bye())
deepStrictEqual(asked.map((ms) => ms >= 120_000 && ms <= 180_000), [true, true, true], `${asked}`)
ok(told[0].retryMs <= 180_000)

// a server that says that it is never silent for too long
globalThis.setTimeout = (then, ms) => { asked.push(ms) }
globalThis.WebSocket = class {}
connectWeb('wss://host/ws').onSilence(LONGEST, () => {})
ok(asked.at(-1) < 2 ** 31)

for (const to of ['a b:1', ':', 'host:99999', '[']) {
  const moved = async () => { throw new Goodbye({ code: 'moved', msg: '', retryable: true, to }) }
  await rejects(comeBack({ host: 'host', port: 1, failures: 0, visit: moved }), Stopped)
}
