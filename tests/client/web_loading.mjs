// What a page's session does where a module cannot be fetched when it is first needed: node web_loading.mjs

import { deepStrictEqual } from 'node:assert'
import { register } from 'node:module'

import { Session } from '../../client/truc_web/page/session/session.mjs'

const LOST_ONCE = `
const lost = new Set()
export async function resolve(specifier, context, next) {
  if (/(attended|fetching).mjs$/.test(specifier) && !lost.has(specifier)) {
    lost.add(specifier)
    throw new TypeError('Failed to fetch dynamically imported module')
  }
  return next(specifier, context)
}`
register(`data:text/javascript,${encodeURIComponent(LOST_ONCE)}`)

const told = []
const line = { isOpen: true, nextId: 0, ask: (t) => { if (t === 'history') session.pages.get(0)({ t: 'error', code: 'private_table' }) } }
const session = Object.assign(new Session({ connect: null, server: '', invite: null, vault: null, whyGuest: null, tell: (event) => told.push(event) }), {
  line, met: { pin: { present: new Uint8Array(32) }, info: { caps: {} } }
})
const wishes = [{ do: 'watch', table: 'TABLE' }, { do: 'fetch', match: '00'.repeat(32), names: null, seat: null, ended: 0 }]
for (const [n, wish] of [...wishes, ...wishes].entries()) await session.grant({ n, ...wish })
const answers = told.filter(({ what }) => what === 'reply').map(({ message }) => message.code ?? message.t)
deepStrictEqual(answers, ['no_line', 'no_line', 'ok', 'private_table'])
