// What is wrong with a screen as it is drawn, told in lines: names, sizes, what is cut off, what lies over what, the focus.

globalThis.isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  && !element.closest('[aria-hidden=true], .heard, .sprite, noscript') && element.getClientRects().length > 0
globalThis.toldAs = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''} "${(element.getAttribute('aria-label') ?? element.textContent).trim().slice(0, 40)}"`

/** Elements that have text of their own, with the boxes of that text. */
globalThis.texts = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (node) => node.data.trim() === '' || !isSeen(node.parentElement) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT)
  const found = []
  while (walker.nextNode()) {
    const range = document.createRange()
    range.selectNodeContents(walker.currentNode)
    for (const box of range.getClientRects()) found.push({ element: walker.currentNode.parentElement, box })
  }
  return found
}

const CUTS = '.team h2 span, .who p, .me, .bar h1, .log, .talk, .side, .quick, .acts small, .hero, select, option'   // may be cut: with dots, or scrolled

/** Text that ends outside the control or sheet that it belongs to, or outside the window. */
globalThis.cutOff = () => texts().flatMap(({ element, box }) => {
  if (element.closest(CUTS) || element.closest('svg')) return []
  const within = element.closest('button, a.b, .chip, .tile, .team, .worth, .say, .value, .turn-up, .sheet, .card')
  const frame = within?.getBoundingClientRect() ?? { left: 0, right: innerWidth, top: -Infinity, bottom: Infinity }
  const isOut = box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || (within?.matches('button, .chip') && box.bottom > frame.bottom + 1)
  return isOut ? [`cut off: ${toldAs(element)} in ${within ? toldAs(within) : 'the window'}`] : []
})

globalThis.tooWide = () => document.documentElement.scrollWidth > innerWidth + 1 ? [`wider than the window: ${document.documentElement.scrollWidth}`] : []

/** Controls too small to be met, but for links in the midst of a text. */
globalThis.tooSmall = (least) => [...document.querySelectorAll('button, a[href], select, summary, label:has(input), [role=tab], input:not([type=checkbox], [type=range])')]
  .filter((each) => isSeen(each) && !each.closest('.lang') && !(each.matches('a') && getComputedStyle(each).display === 'inline'))
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < least - 0.5 || height < least - 0.5)
  .map(([each, { width, height }]) => `smaller than ${least}: ${toldAs(each)} ${Math.round(width)}x${Math.round(height)}`)

const APART = ['.hand button', '.seat .who', '.turn-up', '.value', '.marks', '.trick .k, .pt']   // on the felt
const near = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3

/** What lies over something else on the felt, though each is to be seen whole. */
globalThis.overlaps = () => {
  if (document.querySelector('[data-dialog]')) return []
  const things = APART.flatMap((selector, kind) => [...document.querySelectorAll(selector)].filter(isSeen).map((each) => ({ kind, each, box: each.getBoundingClientRect() })))
  const areApart = (a, b) => a.kind !== b.kind || a.each.matches('.who')     // cards of one hand lie on each other
  return things.flatMap((a, i) => things.slice(i + 1).filter((b) => areApart(a, b) && near(a.box, b.box)).map((b) => `on each other: ${toldAs(a.each)} and ${toldAs(b.each)}`))
}

const CALL = ['Contraflor al resto!', 'Caterina calls contraflor al resto']   // the longest that a seat says, and what it means

/** What the bubble of a seat would lie over, or that it leaves the felt, wherever one sits; a trick may be covered. */
globalThis.bubbles = () => {
  const felt = document.querySelector('.felt')
  if (felt === null || document.querySelector('[data-dialog]')) return []
  const covered = [...felt.querySelectorAll('.seat .who, .hand button, .turn-up')].filter(isSeen).map((each) => [each, each.getBoundingClientRect()])
  const frame = felt.getBoundingClientRect()
  return [...felt.querySelectorAll('.seat')].flatMap((seat) => {
    const place = /at-(\w+)/.exec(seat.className)[1]
    const bubble = Object.assign(document.createElement('div'), { className: `say call by-${place}` })
    bubble.append(...['b', 'small'].map((name, i) => Object.assign(document.createElement(name), { textContent: CALL[i] })))
    felt.append(bubble)
    const box = bubble.getBoundingClientRect()
    const found = covered.filter(([, other]) => near(box, other)).map(([each]) => `what ${place} says lies on ${toldAs(each)}`)
    const isOut = box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
    bubble.remove()
    return isOut ? [...found, `what ${place} says leaves the felt`] : found
  })
}

/** One heading of the first level, none without text. */
globalThis.headings = () => {
  const seen = [...document.querySelectorAll('h1, h2, h3')].filter(isSeen)
  const first = seen.filter(({ tagName }) => tagName === 'H1').length
  return [...(first === 1 ? [] : [`${first} headings of the first level`]), ...seen.filter(({ textContent }) => textContent.trim() === '').map((each) => `empty: ${toldAs(each)}`)]
}

/** Whatever can have the focus shows it; after a key was pressed. */
globalThis.unshown = () => {
  const within = document.querySelector('[data-dialog]') ?? document
  const before = document.activeElement
  const found = [...within.querySelectorAll('button:not(:disabled), a[href], input, select, summary, [tabindex="0"]')].filter(isSeen).filter((each) => {
    each.focus()
    const { outlineStyle, outlineWidth } = getComputedStyle(each.matches('.lang select') ? each.closest('.lang') : each)
    return document.activeElement === each && (outlineStyle === 'none' || parseFloat(outlineWidth) < 2)
  })
  before?.focus?.()
  return found.map((each) => `focus not shown: ${toldAs(each)}`)
}

globalThis.moving = () => document.getAnimations().map(({ effect }) => `moves: ${toldAs(effect.target)}`)

/** The texts with their colours, to be measured on a picture. */
globalThis.colours = () => texts().filter(({ element, box }) => !element.closest('svg, :disabled, [aria-disabled=true]:not(.hand *), .low, option, select') && box.width > 2 && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth)
  .filter(({ element, box }) => element.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)))
  .map(({ element, box: { left, top, width, height } }) => {
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    const size = parseFloat(fontSize)
    return { what: toldAs(element), color, isBig: size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700), box: [left, top, width, height] }
  })

const MARKED = [
  ['[aria-pressed=true]', '[aria-pressed=false]'], ['[aria-selected=true]', '[aria-selected=false]'], ['.marks :is(.us, .them)', '.marks i[class=""]'],
  ['.dots .f', '.dots i:not(.f)'], ['.on .who', '.seat:not(.on) .who'], ['.held', '.ranks li:not(.held)'], ['.mine', 'tbody tr:not(.mine)']
]
const LOOKS = ['backgroundColor', 'color', 'borderTopColor', 'borderTopWidth', 'borderBottomColor', 'borderBottomWidth', 'borderTopStyle', 'outlineStyle']
const looksOf = (element) => LOOKS.map((name) => getComputedStyle(element)[name]).join()

/** What is chosen, won or awaited, but looks like what is not; shadows do not count. */
globalThis.unmarked = () => MARKED.flatMap(([marked, plain]) => {
  const others = [...document.querySelectorAll(plain)].filter(isSeen)
  return [...document.querySelectorAll(marked)].filter(isSeen).filter((each) => others.some((other) => other.tagName === each.tagName && other.getAttribute('role') === each.getAttribute('role') && looksOf(other) === looksOf(each))).map((each) => `not told apart: ${toldAs(each)}`)
})
