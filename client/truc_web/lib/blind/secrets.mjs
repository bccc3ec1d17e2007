// Mode blind, "What a seat draws from its link": every scalar, permutation and nonce of an index.

import { H } from '../proof/encoding.mjs'
import { shuffle } from '../proof/deals.mjs'
import { scalar } from './group.mjs'

/** @typedef {ReturnType<typeof secretsOf>} Secrets */

/** @param {Uint8Array} link v_{j+1} of the seat's chain @param {Uint8Array} mid @param {number} j */
export function secretsOf(link, mid, j) {
  return {
    mask: scalar('mask', link, mid, j),
    nonce: H('nonce', link, mid, j),
    /** @param {number} deck */
    order: (deck) => shuffle(H('perm', link, mid, j), deck),
    /** @param {number} k */
    blind: (k) => scalar('blind', link, mid, j, k),
    /** @param {number} p */
    lock: (p) => scalar('lock', link, mid, j, p),
    /** @param {number} d */
    box: (d) => scalar('box', link, mid, j, d)
  }
}
