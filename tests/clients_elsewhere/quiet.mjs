// A player with a key who asks for nothing, so that a match lasts; with `resigns` the match is given up as soon as a new
// chain is on its way: node quiet.mjs LINK FILE [resigns]

import { Player, comeBack, placeOf } from '../../client/truc_web/lib/index.mjs'
import { connect, openStore } from '../../client/truc_web/lib/platform_node.mjs'

const QUIET = ['play', 'cut', 'stand', 'accept', 'deal']
const [link, file, wish] = process.argv.slice(2)
const rank = ([kind]) => QUIET.includes(kind) ? QUIET.indexOf(kind) : QUIET.length
const choose = (options) => [...options].sort((one, other) => rank(one) - rank(other))[0]

class Quiet extends Player {
  async takeNotice(talk, message) {
    await super.takeNotice(talk, message)
    const { own, ledger, next } = talk.seat
    if (wish === 'resigns' && ledger !== null && `rekey ${next}` in own.signed) await talk.interrupt('resign')
  }
}

await comeBack(new Quiet(placeOf([link]), { connect, store: openStore(file), choose }))
