// What a visit to a server of the conformance kit needs beside robot.js: to sit down, and to tell how the page stands.

// Sits down as the button does, without a look at the table before: to whoever looks, the kit's server plays a match.
globalThis.sitDown = ({ table, keyTitle }) => {
  const ask = (t, n) => beside.postMessage({ do: 'ask', n, t, fields: { table } })
  const begin = () => {
    if (!document.body.innerText.includes(keyTitle)) return setTimeout(begin, 20)
    beside.addEventListener('message', ({ data }) => {
      if (data.what !== 'reply' || data.n !== 2000000 || data.message.t === 'error') return
      history.pushState(null, '', `/t/${table}`)
      dispatchEvent(new PopStateEvent('popstate'))
      ask('ready', 2000001)
    })
    ask('join', 2000000)
  }
  begin()
}

// How the page stands, and what it says.
globalThis.stands = ({ saveWord, watchedWord, goneWord }) => {
  const text = (selector) => document.querySelector(selector)?.innerText
  const failed = text('[data-dialog=failed]')
  if (failed) return ['stopped', failed]
  const notice = text('main > [role=alert]')
  if (notice) return ['out', notice]
  const saves = [...document.querySelectorAll('.dock button')].some((it) => it.textContent === saveWord)
  if (saves || text('[data-dialog=end]')?.includes(watchedWord)) return ['over', document.body.innerText]
  if (text('.dock .ask strong')?.includes(goneWord)) return ['gone', document.body.innerText]
  return ['playing', document.body.innerText]
}

// What could be pressed by somebody who does not mind what lies over it.
globalThis.pressAll = () => {
  for (const it of document.querySelectorAll('.hand button, button[data-slot]')) it.click()
}
