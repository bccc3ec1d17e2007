// What is said of a table whose host sees no card, where the players' programs deal among themselves.

/** @typedef {import('../ui.mjs').Ui} Ui */
/** @typedef {import('../state/state.mjs').State} State */
/** @typedef {import('../words.mjs').Speech} Speech */

/** Whether the players deal at a table. @param {{ mode?: string } | null | undefined} shown */
export const isSealed = (shown) => shown?.mode === 'blind'

/** Why one cannot take part in such a deal, as a sentence goes on; null if one can. @param {Ui} ui @returns {string | null} */
export function whyNotDeal({ state: { me, vault, server }, speech }) {
  const whyGuest = me === null ? vault?.why ?? null : me.isKeyed ? null : me.why
  if (whyGuest !== null) return speech.say(`errors.${whyGuest}`)
  return server !== null && !('blind' in server.caps) ? speech.say('sealed.off') : null
}

/** What the way to a seat says of it: a chip, a promise and its reason, and why one cannot sit there. @param {Ui} ui @param {any} shown */
export function sealedTerms(ui, shown) {
  if (!isSealed(shown)) return null
  const { speech } = ui
  const why = whyNotDeal(ui)
  return { chip: speech.say('sealed.chip'), promise: speech.say('sealed.promise'), how: speech.say('sealed.how'), why: why === null ? null : speech.say('sealed.cannot', { why }) }
}
