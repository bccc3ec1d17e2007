// The verdict on a match that is kept: on its file alone, as any other program would give it.

import { fetched } from './session.mjs'

/**
 * @param {Uint8Array} file
 * @throws what `givenOrNoLine` knows, where what judges the file cannot be had at the moment
 */
export async function verdictOn(file) {
  const [{ hostSawNoCard, verify }] = await fetched(Promise.all([import('../../lib/proof/audit.mjs'), import('../../lib/rules/index.mjs')]))
  const judged = async () => {
    const { result, check, culprit, ledger } = await verify(file)
    return { result, check, culprit, isUnseenByHost: ledger !== null && hostSawNoCard(ledger) }
  }
  return judged().catch(async () => {
    await fetched(import('../../lib/blind/mode.mjs'))     // only some files ask for it: where it is missing, that was the fault
    return judged()
  })
}
