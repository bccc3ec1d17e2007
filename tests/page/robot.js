// Plays at a table by the page's own controls: cards, bids and sheets are pressed as somebody would who sees them. What
// cannot be pressed because something lies over it is not pressed; where that is so of everything, it is told. So is a
// match in which nothing happens for two minutes, however long it takes as a whole.

globalThis.robot = ({ seed = 1, isFirst = false, saveWord, most = 100000 }) => new Promise((resolve, reject) => {
  let state = seed
  let pressed = 0
  const kinds = new Set()
  let moved = performance.now()
  let isAwaited = false     // as far as it was told since the robot began
  let covered = 0     // looks in a row at which something lay over all of it, from
  let since = 0
  const random = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >> 8) % n
  }
  const pick = (list) => list[isFirst ? 0 : random(list.length)]
  const all = (selector, within = document) => [...within.querySelectorAll(selector)]

  const isThere = (button) => {
    button.scrollIntoView({ block: 'nearest' })
    const { x, y, width, height } = button.getBoundingClientRect()
    return document.elementFromPoint(x + width / 2, y + height / 2)?.closest('button') === button
  }

  /** What could be pressed now. */
  const controls = () => {
    const dialogs = all('[data-dialog]')
    const dialog = dialogs.at(-1)
    if (dialog?.dataset.dialog === 'failed') throw new Error(`stopped: ${dialog.innerText}`)
    if (dialog?.dataset.dialog === 'end') return all('.b.yes', dialog)
    if (dialog !== undefined) return all('.choices button', dialog).length > 0 ? all('.choices button', dialog) : all('.go button', dialog)
    const cards = all('.hand button:not([aria-disabled=true])')
    const bids = all('button[data-slot]:not(:disabled)').filter((button) => button.dataset.slot !== 'signs')
    if (cards.length + bids.length === 0) return []
    const signs = random(8) === 0 ? all('button[data-slot=signs]') : []
    // a hand that is given up at once shows little, and whoever waits for a slow page would give up every one
    const isAlone = cards.length + bids.length === 1
    const meant = bids.filter((button) => button.dataset.slot !== 'concede' || (isAlone ? isAwaited : random(12) === 0))
    return isFirst ? [...cards, ...meant] : [...cards, ...meant, ...signs]
  }

  // a page that has just been loaded has no worker yet
  const hear = () => {
    if (globalThis.beside === undefined) return setTimeout(hear, 20)
    beside.addEventListener('message', ({ data: { message } }) => {
      if (['record', 'table'].includes(message?.t)) moved = performance.now()
      if (message?.t === 'record') isAwaited = false
      if (message?.t === 'options') isAwaited = message.must || message.list.some(({ hints }) => hints.waits)
    })
  }
  hear()

  // no more is pressed
  globalThis.halt = () => { most = pressed }

  const step = () => {
    if (performance.now() - moved > 120000) throw new Error('the match stands still')
    const save = all('.dock button').find((button) => button.textContent === saveWord)
    if (save !== undefined || pressed >= most) return resolve({ pressed, kinds: [...kinds].sort(), isOver: save !== undefined })
    const found = controls()
    const there = found.filter(isThere)
    if (found.length > 0 && there.length === 0) {
      if (covered++ === 0) since = performance.now()
      if (covered > 30 && performance.now() - since > 3000) throw new Error(`covered: ${found.map((button) => button.outerHTML.slice(0, 200)).join('\n')}`)
      return
    }
    covered = 0
    if (there.length === 0) return
    const button = pick(there)
    pressed += 1
    kinds.add(button.dataset.slot ?? (button.closest('.hand') ? 'card' : button.closest('[data-dialog]')?.dataset.dialog ?? ''))
    button.click()
  }

  let isDue = false
  const later = () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      try {
        step()
      } catch (error) {
        reject(error)
      }
    }, 0)
  }
  new MutationObserver(later).observe(document.querySelector('#app'), { subtree: true, childList: true, attributes: true, characterData: true })
  setInterval(later, 50)
})
