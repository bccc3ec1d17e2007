// What the page's worker does at a seat with a key, in Node and without a page: it takes the seat, says ready,
// and plays so that a match lasts; it ends when the page would be told that a check has failed: node page_seat.mjs LINK FILE

import { placeOf } from '../../client/truc_web/lib/index.mjs'
import { playerOf } from '../../client/truc_web/lib/login.mjs'
import { connect, openStore } from '../../client/truc_web/lib/platform_node.mjs'
import { Session } from '../../client/truc_web/page/session/session.mjs'

const [link, file] = process.argv.slice(2)
const place = placeOf([link])
const { table } = place
const store = openStore(file)
const vault = {
  kept: store.kept, name: 'page', token: null,
  save: (th) => store.save(th),
  me: (pin) => playerOf(store.kept.master, pin),
  pin: async (server, pin) => { store.kept.pins[server] = pin },
  keep: async () => {}, keepToken: async () => {}, match: async () => null
}

const QUIET = ['play', 'cut', 'stand', 'accept', 'deal']
const rank = ({ kind }) => QUIET.includes(kind) ? QUIET.indexOf(kind) : QUIET.length
const ask = (n, t) => session.grant({ n, do: 'ask', t, fields: { table } })
let isSeated = false

const tell = ({ what, state, n, message }) => {
  if (what === 'failed') process.exit(1)
  if (what === 'line' && state === 'ready' && !isSeated) ask(1, 'join')
  if (what === 'reply' && n === 1) ask(2, 'ready')
  if (what === 'seated') isSeated = true
  if (what !== 'told' || message.t !== 'options' || !message.must) return
  const [{ key }] = [...message.list].sort((one, other) => rank(one) - rank(other))
  session.grant({ n: 3, do: 'choose', table, at: message.at, key })
}

const session = new Session({ connect: async () => connect(place), server: 'there', invite: null, fingerprint: null, revoked: [], vault, whyGuest: null, asksName: false, isFollowed: false, tell })
await session.run()
