// A connection over a WebSocket (docs/protocol/transport.md): one binary message is one frame without its length.

import { webBinding } from './proof/handshake.mjs'

const SUBPROTOCOL = 'truc.1'
const LONGEST_MS = 2 ** 31 - 1     // that a timer can count: given more it is over at once

/**
 * Connect as a browser does, for Line: see line.mjs.
 *
 * @param {string} url of the socket, such as wss://HOST/ws
 * @param {Uint8Array | null} [binding] what the signed hello must vouch for, where that is not the address: behind a
 *   program on the player's own machine that speaks to the server over TCP
 * @returns {import('./line.mjs').Connection}
 */
export function connectWeb(url, binding = webBinding(new URL(url).origin.replace(/^ws/, 'http'))) {
  const socket = new WebSocket(url, SUBPROTOCOL)
  socket.binaryType = 'arraybuffer'
  const silence = new Silence()
  /** @type {Uint8Array[]} */
  const unsent = []     // until it is open
  const frames = new Arrivals()
  socket.onopen = () => unsent.splice(0).forEach((payload) => socket.send(payload))
  socket.onmessage = ({ data }) => {
    silence.isOver()
    frames.put(new Uint8Array(data))
  }
  socket.onerror = () => frames.end(new Error('the connection has failed'))
  socket.onclose = ({ code }) => frames.end(new Error(`the connection was closed (${code})`))
  return {
    binding,
    isOfTruc: true,
    send(payload) {
      if (socket.readyState === WebSocket.CONNECTING) unsent.push(payload)
      else if (socket.readyState === WebSocket.OPEN) socket.send(payload)     // else it is lost, as on any line that breaks
    },
    close() {
      silence.stop()
      socket.close(1000)
      frames.end(new Error('hung up'))
    },
    onSilence: (seconds, then) => silence.begin(seconds, then),
    async * frames(limit) {
      for await (const frame of frames.all()) {
        if (frame.length === 0 || frame.length > limit()) throw new Error(`a frame of ${frame.length} bytes`)
        yield frame
      }
    }
  }
}

// Tells whenever nothing has come for so long.
class Silence {
  begin(/** @type {number} */ seconds, /** @type {() => void} */ then) {
    Object.assign(this, { seconds, then })
    this.isOver()
  }

  isOver() {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.isOver()
      this.then()
    }, Math.min(1000 * this.seconds, LONGEST_MS))
  }

  stop() {
    clearTimeout(this.timer)
    this.isOver = () => {}
  }

  seconds = 0
  then = () => {}
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer = undefined
}

// What has come and is not taken yet, in order; then why nothing comes any more.
class Arrivals {
  constructor() {
    /** @type {Uint8Array[]} */
    this.waiting = []
    /** @type {Error | null} */
    this.fault = null
    this.wake = () => {}
  }

  /** @param {Uint8Array} frame */
  put(frame) {
    this.waiting.push(frame)
    this.wake()
  }

  /** @param {Error} fault */
  end(fault) {
    this.fault ??= fault
    this.wake()
  }

  /** @returns {AsyncGenerator<Uint8Array>} */
  async * all() {
    for (;;) {
      const frame = this.waiting.shift()
      if (frame !== undefined) yield frame
      else if (this.fault !== null) throw this.fault
      else await new Promise((resolve) => { this.wake = () => resolve(undefined) })
    }
  }
}
