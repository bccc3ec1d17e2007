// A match that the server still has: fetched page by page, and judged here as any other program judges the file.

import { fromHex } from '../../lib/bytes.mjs'
import { verify } from '../../lib/proof/audit.mjs'
import { fileBy } from '../../lib/seat_talk.mjs'
import { nameIn, plain, rulesOf } from './plain.mjs'

const PAGE = 64

/** What the page knows of it already. @typedef {{ match: string, names: string[] | null, seat: number | null, ended: number }} Known */

/**
 * The match as the vault keeps it, with the verdict; the code of an error where the server does not give it out.
 *
 * @param {(from: number, limit: number) => Promise<any>} ask the reply with this page, as it was sent
 * @param {Known} known
 * @returns {Promise<import('./vault.mjs').KeptMatch | string>}
 */
async function fetchMatch(ask, { match, names, seat, ended }) {
  const first = await ask(-1, PAGE)
  let answer = first
  const past = []
  while (answer.t !== 'error') {
    past.push(...answer.past)
    if (!answer.more) break
    answer = await ask(answer.k, PAGE)
  }
  if (answer.t === 'error') return answer.code
  const { doc, setup } = first
  const raws = setup.map((/** @type {any[]} */ [signer, body, sig]) => ({ signer, body, sig }))
  const file = fileBy({ doc, raws: [...raws, ...past] })
  const { result, check, ledger } = await verify(file)
  const rules = rulesOf(doc)
  const story = past.map(({ means = [] }, k) => /** @type {[number, any[]]} */ ([k, plain({ means }).means]))
  const isBad = result === 'refuted' || result === 'unreadable'
  return {
    match, variant: rules.variant, names: names ?? setup.slice(1, -1).map((/** @type {any[]} */ [, body]) => nameIn(body)), seat, ended, rules, story, file, known: null,
    winner: ledger?.result?.winner ?? null, isOver: ledger?.phase === 'ended', failed: isBad ? check : null
  }
}

/**
 * Fetch a match over the line of a session, and keep it there.
 *
 * @param {import('./session.mjs').Session} session
 * @param {{ n: number } & Known} wish
 */
export async function fetchFor(session, { n, ...known }) {
  const match = fromHex(known.match)
  const found = await fetchMatch((from, limit) => new Promise((resolve) => {
    const { line } = session
    if (!line?.isOpen) return resolve({ t: 'error', code: 'no_line' })
    session.pages.set(line.nextId, resolve)
    line.ask('history', { match, from, limit })
  }), known)
  if (typeof found !== 'string') await session.vault?.keep(found)
  session.answer(n, typeof found === 'string' ? found : null)
}
