// What is taken elsewhere: the link of a table, and files, by the browser's own ways.

/** @typedef {import('./ui.mjs').Ui} Ui */

const REVOKED_MS = 6000     // by then the browser has read it

/** The link of a table goes to the clipboard, or to what the device shares by. @param {Ui} ui @param {import('./state/table.mjs').Table} table */
export async function invite(ui, table) {
  const url = `${location.origin}/t/${table.code}`
  const isShared = await navigator.share?.({ url }).then(() => true, () => false)
  if (isShared) return
  await copy(ui, url)
}

/** @param {Ui} ui @param {string} url */
export async function copy(ui, url) {
  const isCopied = await navigator.clipboard?.writeText(url).then(() => true, () => false)
  ui.toast(isCopied ? ui.speech.say('page.link_copied') : url)
}

/** A transcript that is kept, and what is known of its players, as files. @param {Ui} ui @param {string} match */
export async function download(ui, match) {
  const { file, known } = await ui.wish('file', { match }) ?? {}
  if (file) saveFile(file, `${match.slice(0, 12)}.truc`)
  if (known) saveFile(known, `${match.slice(0, 12)}.known.truc`)
}

/** @param {Uint8Array | string} content @param {string} name */
export function saveFile(content, name) {
  const url = URL.createObjectURL(new Blob([/** @type {any} */ (content)], { type: 'application/octet-stream' }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), REVOKED_MS)
}
