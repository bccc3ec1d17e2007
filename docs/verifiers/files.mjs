// Sections 12 and 14: files of items (C41).

import { Malformed, decode } from './encoding.mjs'
import { shape } from './shapes.mjs'

export const TRANSCRIPT = Buffer.from('truc transcript 1\n')
export const EVIDENCE = Buffer.from('truc evidence 1\n')
const FILE_LIMIT = 64 * 1024 * 1024
const ITEM_LIMIT = 65664
const BIN_LIMIT = 65536

export const startsWith = (bytes, magic) => bytes.subarray(0, magic.length).equals(magic)

// The items one by one, so that what stands before a torn end is read all the same.
export function * itemsOf(bytes, magic) {
  if (bytes.length > FILE_LIMIT || !startsWith(bytes, magic)) throw new Malformed('no such file')
  for (let at = magic.length; at < bytes.length;) {
    if (at + 4 > bytes.length) throw new Malformed('cut in a length')
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) throw new Malformed('cut in an item')
    yield bytes.subarray(at + 4, end)
    at = end
  }
}

export const recordShape = shape('signer u, body bin, sig bin')

// { signer, body, sig }.
export function readItem(item) {
  const record = recordShape(decode(item, ITEM_LIMIT))
  if (record.body.length > BIN_LIMIT || record.sig.length > BIN_LIMIT) throw new Malformed('a bin too long')
  return record
}
