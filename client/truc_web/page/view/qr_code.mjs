// A QR code as it is shown.

import { h } from '../h.mjs'
import { qrCode } from '../qr.mjs'

const QUIET = 4     // light modules around it

/** A text as a QR code; nothing where it is too long for one. @param {string} text @param {string} label */
export function qr(text, label) {
  const rows = qrCode(text)
  if (rows === null) return null
  const size = rows.length + 2 * QUIET
  const dark = rows.flatMap((row, y) => row.map((bit, x) => bit ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : '')).join('')
  return h('svg', { class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' }, h('rect', { width: size, height: size, fill: '#fff' }), h('path', { d: dark, fill: '#000' }))
}
