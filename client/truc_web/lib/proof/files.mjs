// Sections 12 and 14: files of items (C41).

import { bigEndian, concatAll, same, toBigEndian, utf8 } from '../bytes.mjs'
import { Malformed, decode } from './encoding.mjs'
import { shape } from './shapes.mjs'

export const TRANSCRIPT = utf8('truc transcript 1\n')
export const EVIDENCE = utf8('truc evidence 1\n')
export const FILE_LIMIT = 64 * 1024 * 1024
export const ITEM_LIMIT = 65664
const BIN_LIMIT = 65536

/** @param {Uint8Array} bytes @param {Uint8Array} magic @returns {boolean} */
export const startsWith = (bytes, magic) => same(bytes.subarray(0, magic.length), magic)

/**
 * The items one by one, so that what stands before a torn end is read all the same; then Malformed.
 *
 * @param {Uint8Array} bytes
 * @param {Uint8Array} magic with which a file of its kind begins
 * @returns {Generator<Uint8Array>}
 */
export function * itemsOf(bytes, magic) {
  if (bytes.length > FILE_LIMIT || !startsWith(bytes, magic)) throw new Malformed('no such file')
  for (let at = magic.length; at < bytes.length;) {
    if (at + 4 > bytes.length) throw new Malformed('cut in a length')
    const end = at + 4 + Number(bigEndian(bytes.subarray(at, at + 4)))
    if (end > bytes.length) throw new Malformed('cut in an item')
    yield bytes.subarray(at + 4, end)
    at = end
  }
}

/**
 * A file of items: the inverse.
 *
 * @param {Uint8Array} magic
 * @param {Uint8Array[]} items
 */
export const fileOf = (magic, items) => concatAll([magic, ...items.flatMap((item) => [toBigEndian(item.length, 4), item])])

const recordShape = shape('signer u, body bin, sig bin')

/**
 * A record that is an item of a transcript.
 *
 * @param {Uint8Array} item
 * @returns {{ signer: number, body: Uint8Array, sig: Uint8Array }}
 */
export function readItem(item) {
  const record = recordShape(decode(item, ITEM_LIMIT))
  if (record.body.length > BIN_LIMIT || record.sig.length > BIN_LIMIT) throw new Malformed('a bin too long')
  return record
}
