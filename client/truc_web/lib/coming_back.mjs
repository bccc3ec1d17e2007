// How a program comes back to a server after its connection is lost, and follows it where it says that it is now. A page has
// ways of its own (page/session/session.mjs).

import { Stopped, placeOf } from './line.mjs'

const MOST_FAILURES = 20     // connections in a row that brought nothing new
const MOST_MOVES = 3     // of these, those that sent it on

/** @typedef {import('./line.mjs').Goodbye} Goodbye */

/** @param {number} ms */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Visit the server until a visit has a result, and return it; Stopped where there is nothing to come back for. Whatever
 * brings something new sets the client's `failures` to 0. Where the server has sent it on, `other` is where it came from: lost
 * there, it tries that in turn, as of several nodes of one server another may have the table by then.
 *
 * @typedef {{ host: string, port: number }} Door
 * @typedef {Door & { failures: number, moves?: number, other?: Door, visit: () => Promise<string> }} Visitor
 * @param {Visitor} client
 * @returns {Promise<string>}
 */
export async function comeBack(client) {
  for (;;) {
    try {
      return await client.visit()
    } catch (fault) {
      if (fault instanceof Stopped) throw fault
      await wait(pauseAfter(/** @type {Error & Partial<Goodbye>} */ (fault), client))
    }
  }
}

/** @param {Error & Partial<Goodbye>} fault @param {Visitor} client */
function pauseAfter(fault, client) {
  const { pauseMs = 0, to = null, retryable = true } = fault
  // what brings something new ends both counts: a client that plays may be sent on any number of times
  client.moves = (client.failures === 0 ? 0 : client.moves ?? 0) + (to === null ? 0 : 1)
  client.failures += 1
  if (client.failures > MOST_FAILURES || client.moves > MOST_MOVES) throw new Stopped(`no way to the server: ${fault.message}`)
  const { host, port } = to === null ? client.other ?? client : placeOf([`truc://${to}`])
  // with `to` one goes on there, whatever else is said (client-guide.md, 5)
  if (to === null && !retryable) throw new Stopped(fault.message)
  if (host !== client.host || port !== client.port) {
    Object.assign(client, { host, port, other: { host: client.host, port: client.port } })
  }
  return Math.max(pauseMs, Math.min(50 * 2 ** client.failures, 2000)) * (1 + Math.random() / 2)     // not all at once
}
