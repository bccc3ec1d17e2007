// What a page's session, and its verdict on a kept match, do where a module cannot be fetched when it is first needed:
// node web_loading.mjs blind.truc

import { deepStrictEqual } from 'node:assert'
import { readFileSync } from 'node:fs'
import { register } from 'node:module'

import { Session, givenOrNoLine } from '../../client/truc_web/page/session/session.mjs'
import { verdictOn } from '../../client/truc_web/page/session/verdict.mjs'

const LOST_AT_FIRST = `
const left = { attended: 1, fetching: 1, 'proof/audit': 1, 'rules/index': 1, 'blind/mode': 2 }
export async function resolve(specifier, context, next) {
  const [, name] = /(attended|fetching|proof\\/audit|rules\\/index|blind\\/mode).mjs$/.exec(specifier) ?? []
  if (left[name] > 0) {
    left[name]--
    throw new TypeError('Failed to fetch dynamically imported module')
  }
  return next(specifier, context)
}`
register(`data:text/javascript,${encodeURIComponent(LOST_AT_FIRST)}`)

const file = readFileSync(process.argv[2])
const verdicts = []
while (verdicts.at(-1) !== 'proven' && verdicts.length < 9) {
  const { code, result } = await givenOrNoLine(() => verdictOn(file))
  verdicts.push(code ?? result)
}
deepStrictEqual(verdicts, ['no_line', 'no_line', 'proven'])

const told = []
const line = { isOpen: true, nextId: 0, ask: (t) => { if (t === 'history') session.pages.get(0)({ t: 'error', code: 'private_table' }) } }
const session = Object.assign(new Session({ connect: null, server: '', invite: null, vault: null, whyGuest: null, tell: (event) => told.push(event) }), {
  line, met: { pin: { present: new Uint8Array(32) }, info: { caps: {} } }
})
const wishes = [{ do: 'watch', table: 'TABLE' }, { do: 'fetch', match: '00'.repeat(32), names: null, seat: null, ended: 0 }]
for (const [n, wish] of [...wishes, ...wishes].entries()) await session.grant({ n, ...wish })
const answers = told.filter(({ what }) => what === 'reply').map(({ message }) => message.code ?? message.t)
deepStrictEqual(answers, ['no_line', 'no_line', 'ok', 'private_table'])
