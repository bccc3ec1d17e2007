// Section 4: hash chains. Link i of a chain is v_i, its anchor v_first; deal j opens v_{j+1}.

import { same } from '../bytes.mjs'
import { H } from './encoding.mjs'

/**
 * From v_from down to v_to.
 *
 * @param {Uint8Array} pk
 * @param {Uint8Array} tn
 * @param {Uint8Array} link
 * @param {number} from
 * @param {number} to
 */
export function hashDown(pk, tn, link, from, to) {
  for (let i = from; i > to; i--) link = H('chain', pk, tn, i, link)
  return link
}

// What is publicly known of one contributor's chain.
export class Chain {
  /**
   * @param {Uint8Array} pk
   * @param {Uint8Array} tn
   * @param {number} first
   * @param {number} count
   * @param {Uint8Array} anchor
   */
  constructor(pk, tn, first, count, anchor) {
    this.pk = pk
    this.tn = tn
    this.first = first
    this.last = first + count
    this.newest = { index: first, link: anchor }
  }

  /** @param {number} j */
  isExhausted(j) {
    return j >= this.last
  }

  /**
   * Whether this is v_index: it hashes down to the newest link known.
   *
   * @param {number} index
   * @param {Uint8Array} link
   */
  fits(index, link) {
    if (link.length !== 32 || index < this.newest.index || index > this.last) return false
    return same(hashDown(this.pk, this.tn, link, index, this.newest.index), this.newest.link)
  }

  /** @param {number} index @param {Uint8Array} link */
  learn(index, link) {
    this.newest = { index, link }
  }
}
