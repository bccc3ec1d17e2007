// What is shown, as values, and the few steps that make the document like it. Nothing is ever parsed: elements are
// created, text is set, so no name and no line of chat can be markup.

const SVG = 'http://www.w3.org/2000/svg'

/**
 * An element to be: its name, its properties, its children. `key` tells apart siblings that move.
 *
 * @typedef {{ name: string, props: Record<string, any>, children: Child[], key: string | null, at?: Element }} Shown
 * @typedef {{ text: string, at?: Text }} ShownText
 * @typedef {Shown | ShownText} Child
 */

/**
 * An element to be. Properties are attributes, but for `on...` (a listener), `style` (an object of CSS properties),
 * `value`, `checked` and `open`; what is null or false is left out, as are children that are.
 *
 * @param {string} name
 * @param {Record<string, any> | null} [props]
 * @param {...any} children elements, texts, numbers, or arrays of them
 * @returns {Shown}
 */
export function h(name, props, ...children) {
  const { key = null, ...rest } = props ?? {}
  return { name, props: rest, children: childrenOf(children), key }
}

/** @param {any[]} given @returns {Child[]} */
function childrenOf(given) {
  return given.flat(9).filter((child) => child != null && child !== false && child !== '')
    .map((child) => typeof child === 'object' ? child : { text: String(child) })
}

const PROPERTIES = ['value', 'checked', 'open', 'disabled', 'hidden']

/** @param {any} element @param {string} name @param {any} value @param {any} before */
function setProperty(element, name, value, before) {
  if (name.startsWith('on')) {
    element[name.toLowerCase()] = value ?? null
  } else if (name === 'style') {
    for (const each of Object.keys(before ?? {})) if (!(value && each in value)) element.style.removeProperty(each)
    for (const [each, set] of Object.entries(value ?? {})) element.style.setProperty(each, set)
  } else if (PROPERTIES.includes(name)) {
    if (element[name] !== (value ?? '')) element[name] = value ?? (name === 'value' ? '' : false)
  } else if (value == null || value === false) {
    element.removeAttribute(name)
  } else {
    element.setAttribute(name, value === true ? '' : String(value))
  }
}

/** @param {Child} shown @param {boolean} isSvg @returns {Node} */
function create(shown, isSvg) {
  if ('text' in shown) return shown.at = document.createTextNode(shown.text)
  const isInSvg = isSvg || shown.name === 'svg'
  const element = isInSvg ? document.createElementNS(SVG, shown.name) : document.createElement(shown.name)
  shown.at = element
  for (const child of shown.children) element.append(create(child, isInSvg))
  // a value of a list is one of the options in it, so it comes after them
  for (const [name, value] of Object.entries(shown.props)) setProperty(element, name, value, undefined)
  return element
}

/** Whether one can become the other. @param {Child} a @param {Child} b */
const isAlike = (a, b) => 'text' in a ? 'text' in b : !('text' in b) && a.name === b.name && a.key === b.key

/** @param {Child} before @param {Child} after */
function update(before, after) {
  if (after === before) return     // drawn once for all
  after.at = /** @type {any} */ (before.at)
  if ('text' in after) {
    if (/** @type {ShownText} */ (before).text !== after.text) /** @type {Text} */ (after.at).data = after.text
    return
  }
  const old = /** @type {Shown} */ (before)
  const element = /** @type {Element} */ (after.at)
  patchChildren(element, old.children, after.children)
  for (const name of Object.keys({ ...old.props, ...after.props })) {
    const [was, is] = [old.props[name], after.props[name]]
    if (was !== is || name === 'value' || name === 'checked') setProperty(element, name, is, was)
  }
}

/** @param {Element} parent @param {Child[]} before @param {Child[]} after */
function patchChildren(parent, before, after) {
  const left = [...before]
  const olds = after.map((child) => {
    const same = left.indexOf(child)     // what was drawn once stays itself, and becomes nothing else
    const found = same >= 0 ? same : left.findIndex((old) => isAlike(old, child) && !after.includes(old))
    return found < 0 ? null : left.splice(found, 1)[0]
  })
  // first, so that nothing behind it is moved: what is moved loses the focus
  for (const old of left) /** @type {ChildNode} */ (old.at).remove()
  const isSvg = parent.namespaceURI === SVG
  /** @type {Node | null} */
  let place = parent.firstChild
  after.forEach((child, i) => {
    const old = olds[i]
    if (old === null) return parent.insertBefore(create(child, isSvg), place)
    update(old, child)
    const node = /** @type {Node} */ (child.at)
    if (node === place) place = place.nextSibling
    else parent.insertBefore(node, place)
  })
}

/**
 * Make the children of an element what is to be shown. Returns what to give as `before` the next time.
 *
 * @param {Element} parent
 * @param {Child[]} before
 * @param {any[]} shown
 * @returns {Child[]}
 */
export function show(parent, before, ...shown) {
  const after = childrenOf(shown)
  patchChildren(parent, before, after)
  return after
}
