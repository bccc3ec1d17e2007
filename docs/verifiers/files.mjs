// Sections 12 and 14: files of items (C41).

import { Malformed, decode } from './encoding.mjs'
import { shape } from './shapes.mjs'

export const TRANSCRIPT = Buffer.from('truc transcript 1\n')
export const EVIDENCE = Buffer.from('truc evidence 1\n')
const FILE_LIMIT = 64 * 1024 * 1024

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

const recordShape = shape('signer u, body bin, sig bin')

// { signer, body, sig }. The limit of the body is C1's: an item has none.
export const readItem = (item) => recordShape(decode(item, FILE_LIMIT))
