// The cards, drawn: Spanish and French packs, each suit and figure once as a symbol that the cards use.

import { h } from '../h.mjs'

const PAPER = '#fffdf5'
const INK = '#2a2522'
const GOLD = '#e3ac34'
const SKIN = '#f2cfa6'

/** The ink of each suit; French ones after `f`. @type {Record<string, string>} */
const INKS = {
  o: '#b5770a', c: '#bb2a33', e: '#2a5fae', b: '#2f7d3a', fh: '#c22a35', fd: '#c22a35', fs: '#22262d', fc: '#22262d'
}
/** In the pack of four colours. @type {Record<string, string>} */
const FOUR = { fd: '#1c63b8', fc: '#217a3c' }

/** @typedef {[name: string, props: Record<string, any>]} Stroke */
/** @type {(d: string, props?: Record<string, any>) => Stroke} */
const path = (d, props = {}) => ['path', { d, ...props }]
/** @type {(r: number, props?: Record<string, any>) => Stroke} */
const circle = (r, props = {}) => ['circle', { r, ...props }]
const TILTED = 'rotate(32)'

/** Each suit around its middle, some 20 wide; without a fill it takes the ink. @type {Record<string, Stroke[]>} */
const SUITS = {
  o: [
    circle(9.4), circle(7.6, { fill: '#ffe9a8' }), circle(6.4),
    path('M0-5.4 1.3-1.7 5-2.2 2.3.6 4.4 3.8 1 2.8 0 6-1 2.8-4.4 3.8-2.3.6-5-2.2-1.3-1.7Z', { fill: '#ffe9a8' }), circle(1.5)
  ],
  c: [
    path('M-7.4-9H7.4C7.8-2 5.4 1.6 1.9 2.4V5.2C4.6 5.6 6.2 7.2 6.4 9.4H-6.4C-6.2 7.2-4.6 5.6-1.9 5.2V2.4C-5.4 1.6-7.8-2-7.4-9Z'),
    path('M-7.2-6.6H7.2L6.9-4.4H-6.9ZM-2.6 2.9H2.6V4.5H-2.6Z', { fill: '#f4c95d' }),
    path('M-4.9-3.4C-4.6-.9-3.6.5-2.3 1.2-3.2-.3-3.6-1.8-3.7-3.4Z', { fill: '#fff5' })
  ],
  e: [
    path('M0-10.6 2-7.4V4.2H-2V-7.4Z', { transform: TILTED }), path('M0-9.4V4.2H-1V-7.4Z', { transform: TILTED, fill: '#fff7' }),
    path('M-5.8 3.6C-3 5 3 5 5.8 3.6V5.8C3 6.8-3 6.8-5.8 5.8Z', { transform: TILTED, fill: '#c9921a' }),
    path('M-1.2 6.2H1.2V9H-1.2Z', { transform: TILTED, fill: '#8b2530' }),
    circle(1.7, { cy: 9.8, transform: TILTED, fill: '#c9921a' })
  ],
  b: [
    path('M-2.6-9.4Q0-11.4 2.8-9.2Q5.4-5.4 3.6-.4L1.9 8.8Q0 10.8-1.9 8.8L-3.5-.4Q-5.2-5.4-2.6-9.4Z', { transform: TILTED }),
    path('M-3.2-1.6-6.3-3.4-5.4.2-2.8 1.4ZM3.2-4.4 6.6-5.8 5.6-2.2 3.2-.9Z', { transform: TILTED }),
    path('M-1.4-7.4v3M1.4-3.6v3M-.6 1.6v3.4', { transform: TILTED, stroke: '#c7e59a', 'stroke-width': 1.3, 'stroke-linecap': 'round' })
  ],
  fh: [path('M0 9.2C-10.6 1.6-9.8-8.2-4.4-8.2-1.9-8.2-.5-6.6 0-4.7.5-6.6 1.9-8.2 4.4-8.2 9.8-8.2 10.6 1.6 0 9.2Z')],
  fd: [path('M0-9.8C2-5.8 4.6-2.6 7.2 0 4.6 2.6 2 5.8 0 9.8-2 5.8-4.6 2.6-7.2 0-4.6-2.6-2-5.8 0-9.8Z')],
  fs: [path('M0-9.6C3.2-4.6 8.8-1.8 8.8 2.8 8.8 6.8 3.8 7.8 1 4.5 1.2 7 2.1 8.4 3.6 9.4H-3.6C-2.1 8.4-1.2 7-1 4.5-3.8 7.8-8.8 6.8-8.8 2.8-8.8-1.8-3.2-4.6 0-9.6Z')],
  fc: [
    circle(4.3, { cy: -4.9 }), circle(4.3, { cx: -4.8, cy: 1.7 }), circle(4.3, { cx: 4.8, cy: 1.7 }),
    path('M-1.5-2H1.5C1.2 4.6 2 7.6 3.6 9.4H-3.6C-2 7.6-1.2 4.6-1.5-2Z')
  ]
}

/** @type {(y: number, hair?: string) => Stroke[]} */
const face = (y, hair = '#6b4226') => [
  path(`M24 ${y + 3}C23 ${y - 10} 41 ${y - 10} 40 ${y + 3}L39 ${y + 9}H25Z`, { fill: hair }),
  ['ellipse', { cx: 32, cy: y + 2, rx: 6.3, ry: 7.4, fill: SKIN }],
  path(`M29 ${y + 1}v1.4M35 ${y + 1}v1.4M30 ${y + 6}q2 1.3 4 0`, { stroke: '#4b2e1a', 'stroke-width': 1, fill: 'none', 'stroke-linecap': 'round' })
]
/** @type {Stroke[]} */
const ROBE = [
  path('M32 42C23 42 16 48 14 62L11.5 84H52.5L50 62C48 48 41 42 32 42Z'),
  path('M28 43H36L38.5 84H25.5Z', { fill: GOLD }),
  path('M32 50V82', { stroke: 'currentColor', 'stroke-width': 1.6, 'stroke-dasharray': '2 3.4' }),
  path('M24 45Q32 53 40 45L38 41H26Z', { fill: '#fff6e0' }),
  path('M11.8 79H52.2', { stroke: GOLD, 'stroke-width': 3 })
]

/** @type {Record<string, Stroke[]>} */
const FIGURES = {
  king: [
    ...ROBE, ...face(33, '#7a4f2b'),
    path('M25.6 36Q27 49 32 50 37 49 38.4 36 36 41 32 41T25.6 36Z', { fill: '#7a4f2b' }),
    path('M23 28 21 16 27 21 32 13 37 21 43 16 41 28Q32 24 23 28Z', { fill: GOLD }), circle(1.6, { cx: 32, cy: 22.5 })
  ],
  queen: [
    ...ROBE, path('M23 34C20 20 44 20 41 34L44 52H20Z', { fill: '#8a5527' }), ...face(33, '#8a5527'),
    path('M24 27 22 18 28 22 32 15 36 22 42 18 40 27Q32 23 24 27Z', { fill: GOLD })
  ],
  jack: [
    path('M25 68H31V85H24ZM33 68H39L40 85H33Z', { fill: '#3c2a1c' }),
    path('M32 42C22 42 18 48 17 62L16 71H48L47 62C46 48 42 42 32 42Z'),
    path('M16.4 66.5H47.6L48 71H16ZM30 44H34V66H30Z', { fill: GOLD }),
    path('M25 44.6Q32 51 39 44.6L37.4 41H26.6Z', { fill: '#fff6e0' }), ...face(33),
    path('M22.5 29C23 19 41 19 41.5 29Q32 24.5 22.5 29Z'), path('M38 22Q46 18 45 10 37 12 36 21Z', { fill: GOLD })
  ],
  knight: [
    path('M13 85V70C12 58 20 54 30 55 36 55 38 50 41 45L40 40 45 43C51 46 54 52 54 57L50 60 46 57C45 63 47 66 46 72V85H40L39 74H22L20 85Z', { fill: '#8d6a4a' }),
    circle(1.1, { cx: 47, cy: 49.5, fill: '#23170e' }), path('M41 45 37 56M40 43 35 50', { stroke: '#4b2e1a', 'stroke-width': 2 }),
    path('M44 53 51 58 50 59.6 43 55Z', { fill: GOLD }),
    path('M25 38C18 39 15 46 16 58L31 61 35 57C35 46 33 38 25 38Z'), path('M16 55 32 58 31 61 16 58Z', { fill: GOLD }),
    ...face(33).map(([name, props]) => /** @type {Stroke} */ ([name, { ...props, transform: 'translate(-6.5 -4)' }])),
    path('M22 29Q32 16 42 29Q32 25 22 29Z', { transform: 'translate(-6.5 -4)' }),
    path('M26 24Q20 18 23 12 30 15 31 22Z', { transform: 'translate(-6.5 -4)', fill: GOLD })
  ]
}
/** @type {Record<string, string>} */
const FRENCH_FIGURES = { J: 'jack', Q: 'queen', K: 'king' }
/** @type {Record<string, string>} */
const SPANISH_FIGURES = { 10: 'jack', 11: 'knight', 12: 'king' }

/** Where the signs of a number stand. @type {Record<number, [x: number, y: number][]>} */
const PIPS = { 2: [[32, 27], [32, 71]], 3: [[32, 23], [32, 49], [32, 75]], 4: [[24, 27], [42, 27], [24, 71], [42, 71]] }
PIPS[5] = [...PIPS[4], [33, 49]]
PIPS[6] = [...PIPS[4], [24, 49], [42, 49]]
PIPS[7] = [...PIPS[6], [33, 38]]
PIPS[8] = [...PIPS[7], [33, 60]]
PIPS[9] = [[24, 24], [42, 24], [24, 40.5], [42, 40.5], [24, 57.5], [42, 57.5], [24, 74], [42, 74], [33, 49]]
PIPS[10] = [...PIPS[9].slice(0, 8), [33, 32], [33, 66]]
/** The gaps in the frame, by which a Spanish suit is told: none, one, two, three. @type {Record<string, number[]>} */
const GAPS = { o: [], c: [29], e: [21, 37], b: [13, 29, 45] }

/** @param {Stroke} stroke */
const drawn = ([name, props]) => h(name, props)

/** Every suit, figure and the back once; stands in the page, unseen. */
export const sprite = h('svg', { class: 'sprite', 'aria-hidden': 'true' },
  Object.entries(SUITS).map(([suit, strokes]) => h('symbol', { id: `suit-${suit}`, overflow: 'visible' }, strokes.map(drawn))),
  Object.entries(FIGURES).map(([name, strokes]) => h('symbol', { id: `figure-${name}`, overflow: 'visible' }, strokes.map(drawn))),
  h('symbol', { id: 'back', viewBox: '0 0 64 98' }, back()))

/** Three cards of a game, for those who have not sat down at it yet. @param {string} variant @param {boolean} isFour @param {Record<string, string>} letters */
export function hero(variant, isFour, letters) {
  const isIt = !/argentino|catalan|gauderio|venezolano|uruguayo|valenci/.test(variant)
  const cards = isIt ? ['7h', 'As', 'Kd'] : ['7o', '1e', '12c']
  return h('div', null, cards.map((name) => card(name, { isFrench: isIt, isFour, letters, nameOf: () => '' })))
}

function back() {
  const places = Array.from({ length: 40 }, (_, i) => [10 + i % 5 * 11, 7.5 + Math.floor(i / 5) * 11.8])
  const net = places.map(([x, y]) => `M${x} ${y.toFixed(1)}l4.4 5.9-4.4 5.9-4.4-5.9Z`).join('')
  return [
    h('rect', { x: 0.5, y: 0.5, width: 63, height: 97, rx: 5.5, fill: '#fdf8ec', stroke: '#0006' }),
    h('rect', { x: 4, y: 4, width: 56, height: 90, rx: 3.6, fill: '#8c2438' }),
    h('path', { d: net, fill: 'none', stroke: '#f0c9a6', 'stroke-opacity': 0.55 }),
    h('circle', { cx: 32, cy: 49, r: 11, fill: '#8c2438', stroke: '#f0c9a6', 'stroke-width': 1.4 }),
    h('path', { d: 'M26.5 44h11M32 44v11.5', stroke: '#f0c9a6', 'stroke-width': 2.6, 'stroke-linecap': 'round' })
  ]
}

/** @param {string} suit @param {number} x @param {number} y @param {number} size @param {string} ink @param {boolean} [isUpsideDown] */
const sign = (suit, x, y, size, ink, isUpsideDown = false) => h('use', {
  href: `#suit-${suit}`, fill: ink, color: ink,
  transform: `translate(${x} ${y}) scale(${size / 20})${isUpsideDown ? ' rotate(180)' : ''}`
})

/**
 * How a pack is drawn.
 *
 * @typedef {{ isFrench: boolean, isFour: boolean, letters: Record<string, string>, nameOf: (card: string) => string }} Pack
 */

/**
 * A card; null for one that lies face down.
 *
 * @param {string | null} name as the rule document has it, such as `7e`
 * @param {Pack} pack
 * @param {{ class?: string, label?: string, key?: string }} [props] `label` where its name says less than what it stands for
 */
export function card(name, pack, { class: look = '', label, key } = {}) {
  const about = { class: `k ${look}`.trim(), key: key ?? null, role: 'img', 'aria-label': label ?? (name === null ? pack.nameOf('') : pack.nameOf(name)) }
  const box = { viewBox: '0 0 64 98', 'aria-hidden': 'true' }
  return h('span', about, h('svg', box, name === null ? h('use', { href: '#back' }) : front(name, pack)))
}

/** @param {string} suit @param {boolean} isFour whether French suits have four colours */
const inkOf = (suit, isFour) => isFour ? FOUR[suit] ?? INKS[suit] : INKS[suit]

/** A card as it stands in a line: its rank and the sign of its suit. @param {string} name @param {Pack} pack */
export function inLine(name, { isFrench: isIt, isFour, letters, nameOf }) {
  const [rank, bare] = [name.slice(0, -1), name.slice(-1)]
  const suit = isIt ? `f${bare}` : bare
  const ink = inkOf(suit, isFour)
  return h('span', { class: 'in-line', role: 'img', 'aria-label': nameOf(name) }, letters[rank] ?? rank,
    h('svg', { viewBox: '-11 -11 22 22', 'aria-hidden': 'true' }, h('use', { href: `#suit-${suit}`, fill: ink, color: ink })))
}

/** @param {string} name @param {Pack} pack */
function front(name, { isFrench: isIt, isFour, letters }) {
  const [rank, bare] = [name.slice(0, -1), name.slice(-1)]
  const suit = isIt ? `f${bare}` : bare
  const ink = inkOf(suit, isFour)
  const figure = (isIt ? FRENCH_FIGURES : SPANISH_FIGURES)[rank]
  const pips = PIPS[Number(rank)]
  const middle = figure !== undefined
    ? [h('use', { href: `#figure-${figure}`, fill: ink, color: ink }), sign(suit, figure === 'knight' ? 51 : 51.5, figure === 'knight' ? 25 : 27, 14, ink)]
    : rank === '1' || rank === 'A' || pips === undefined ? sign(suit, 32, 50, 40, ink)
      : pips.map(([x, y]) => sign(suit, x, y, pips.length > 8 ? 13.4 : pips.length > 6 ? 14 : 16, ink, isIt && y > 50))
  const edge = isIt ? null : [
    h('rect', { x: 3, y: 3, width: 58, height: 92, rx: 3.6, fill: 'none', stroke: ink, 'stroke-opacity': 0.75, 'stroke-width': 1.1 }),
    (GAPS[bare] ?? []).map((x) => h('path', { d: `M${x} 3h6M${x} 95h6`, stroke: PAPER, 'stroke-width': 2.4 }))
  ]
  const corner = cornerOf(letters[rank] ?? rank, suit, ink, isIt, figure !== undefined)
  return [
    h('rect', { x: 0.5, y: 0.5, width: 63, height: 97, rx: 5.5, fill: PAPER, stroke: '#0005' }), edge, middle, corner,
    h('g', { transform: 'rotate(180 32 49)' }, corner.slice(figure !== undefined ? 0 : 1))
  ]
}

/** @param {string} rank @param {string} suit @param {string} ink @param {boolean} isFrenchPack @param {boolean} isFigure */
function cornerOf(rank, suit, ink, isFrenchPack, isFigure) {
  const x = isFrenchPack ? 8.6 : 9.2
  const isLong = rank.length > 1
  return [
    h('path', { fill: PAPER, d: `M4 4H${isFigure ? 17 : 16}V30H4Z` }),
    h('text', {
      x, y: 16, class: 'rank-sign', 'text-anchor': 'middle', 'font-size': isLong ? 13 : 16.5, fill: isFrenchPack ? ink : INK,
      textLength: isLong ? 12 : null, lengthAdjust: isLong ? 'spacingAndGlyphs' : null
    }, rank),
    sign(suit, x, 23.5, 9, ink)
  ]
}

const STICKS = [[5, 9, 5, 37], [9, 5, 37, 5], [41, 9, 41, 37], [37, 41, 9, 41], [10, 10, 36, 36]]

/**
 * Points as matches laid in squares with a diagonal, with gaps for what is missing and a line at half.
 *
 * @param {number} points
 * @param {number} target
 * @param {number} half 0 where the game has none
 */
export function sticks(points, target, half) {
  const squares = []
  for (let from = 0; from < target; from += 5) {
    if (half > 0 && from === half) squares.push(h('hr', null))
    const n = Math.min(5, Math.max(0, points - from))
    squares.push(h('svg', { class: 'sq', viewBox: '0 0 46 46' }, STICKS.slice(0, n).map(([x, y, u, v]) => [
      h('path', { d: `M${x} ${y}L${u} ${v}`, stroke: '#e9cf9a', 'stroke-width': 3.2, 'stroke-linecap': 'round' }),
      h('circle', { cx: x, cy: y, r: 3, fill: '#d2402f' })
    ])))
  }
  return h('div', { class: 'sticks', 'aria-hidden': 'true' }, squares)
}

const ICONS = {
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12ZM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z',
  sound: 'M4 9v6h4l5 4V5L8 9ZM17 8.5a5 5 0 0 1 0 7M19.5 6a9 9 0 0 1 0 12',
  muted: 'M4 9v6h4l5 4V5L8 9ZM17 9l5 6M22 9l-5 6',
  chat: 'M4 5h16v11H9l-5 4Z', menu: 'M4 7h16M4 12h16M4 17h16', close: 'M5 5l14 14M19 5 5 19', more: 'M5 12h.01M12 12h.01M19 12h.01', back: 'M14 5l-7 7 7 7',
  first: 'M18 5v14l-8-7ZM6 5v14', before: 'M16 5v14l-9-7Z', play: 'M7 5v14l11-7Z', stop: 'M8 5v14M16 5v14', after: 'M8 5v14l9-7Z',
  last: 'M6 5v14l8-7ZM18 5v14'
}

/** @param {keyof typeof ICONS} name */
export const icon = (name) => h('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, h('path', { d: ICONS[name] }))

/** The shield of the badge: with a tick where all is checked, with a bar where nothing is, crossed where a check failed. */
/** @param {'ok' | 'busy' | 'none' | 'bad'} how */
export const shield = (how) => h('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' },
  h('path', { fill: 'currentColor', d: 'M12 1 3 5v6c0 5.6 3.8 10.3 9 12 5.2-1.7 9-6.4 9-12V5Z' }),
  h('path', {
    class: 'shield-mark', fill: 'none', 'stroke-width': 2.4,
    d: { ok: 'm7.5 12 3.2 3.2 6-6.4', busy: 'M12 7v5l3 3', none: 'M8 12h8', bad: 'm8.5 8.5 7 7m0-7-7 7' }[how]
  }))
