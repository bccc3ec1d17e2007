// A text as a QR code: ISO/IEC 18004 in bytes, with error correction M, versions 1 to 6, which is up to 106 bytes.

/** By version: bytes of correction in a block, and bytes of data in each. @type {[correction: number, data: number[]][]} */
const BLOCKS = [[10, [16]], [16, [28]], [26, [44]], [18, [32, 32]], [24, [43, 43]], [16, [27, 27, 27, 27]]]
const FIELD = 0x11d
const FORMAT = { generator: 0x537, mask: 0x5412 }
const BYTES_MODE = 4
const PADS = [0xec, 0x11]
/** Which modules are inverted, by mask. @type {((y: number, x: number) => boolean)[]} */
const MASKS = [
  (y, x) => (y + x) % 2 === 0, (y) => y % 2 === 0, (y, x) => x % 3 === 0, (y, x) => (y + x) % 3 === 0,
  (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0, (y, x) => (y * x) % 2 + (y * x) % 3 === 0,
  (y, x) => ((y * x) % 2 + (y * x) % 3) % 2 === 0, (y, x) => ((y + x) % 2 + (y * x) % 3) % 2 === 0
]
const FINDERS = ['10111010000', '00001011101']

/** @param {number} version from 1 @returns {number} modules in a row */
const sizeOf = (version) => 17 + 4 * version

/**
 * The code, row by row, 1 for a dark module; null for a text that is too long.
 *
 * @param {string} text
 * @returns {number[][] | null}
 */
export function qrCode(text) {
  const bytes = [...new TextEncoder().encode(text)]
  const version = 1 + BLOCKS.findIndex(([, blocks]) => sum(blocks) >= bytes.length + 2)
  if (version === 0) return null
  const { fixed, rows } = frame(version)
  lay(rows, fixed, bitsOf(interleaved(version, padded(bytes, sum(BLOCKS[version - 1][1])))))
  const masked = MASKS.map((mask, number) => withFormat(rows.map((row, y) => row.map((bit, x) => fixed[y][x] ? bit : bit ^ Number(mask(y, x)))), number))
  // ISO/IEC 18004: of the eight masks the one with the least penalty
  const penalties = masked.map(penalty)
  return masked[penalties.indexOf(Math.min(...penalties))]
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0)

/** Mode, length, the bytes, an end of four zeros, and what fills the rest. @param {number[]} bytes @param {number} room */
function padded(bytes, room) {
  const nibbles = [BYTES_MODE, bytes.length >> 4, bytes.length & 15, ...bytes.flatMap((byte) => [byte >> 4, byte & 15]), 0]
  const whole = Array.from({ length: nibbles.length / 2 }, (_, i) => nibbles[2 * i] << 4 | nibbles[2 * i + 1])
  return [...whole, ...Array.from({ length: room - whole.length }, (_, i) => PADS[i % 2])]
}

/** Data and corrections of the blocks by turns. @param {number} version @param {number[]} data */
function interleaved(version, data) {
  const [correction, lengths] = BLOCKS[version - 1]
  let at = 0
  const blocks = lengths.map((length) => data.slice(at, at += length))
  const turns = (/** @type {number[][]} */ parts) => parts[0].flatMap((_, i) => parts.map((part) => part[i]))
  return [...turns(blocks), ...turns(blocks.map((block) => correctionOf(block, correction)))]
}

/** In the field of 256 elements. @param {number} a @param {number} b */
function times(a, b) {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = product << 1 ^ (product >> 7) * FIELD
    if (b >> bit & 1) product ^= a
  }
  return product
}

/** Reed and Solomon's. @param {number[]} data @param {number} length @returns {number[]} */
export function correctionOf(data, length) {
  let generator = [1]
  for (let i = 0, root = 1; i < length; i++, root = times(root, 2)) {
    generator = [...generator, 0].map((each, k) => each ^ (k > 0 ? times(generator[k - 1], root) : 0))
  }
  const rest = [...data, ...Array(length).fill(0)]
  data.forEach((_, i) => {
    const factor = rest[i]
    generator.forEach((each, k) => { rest[i + k] ^= times(each, factor) })
  })
  return rest.slice(data.length)
}

/** @param {number[]} bytes */
const bitsOf = (bytes) => bytes.flatMap((byte) => Array.from({ length: 8 }, (_, i) => byte >> 7 - i & 1))

/** What every code of a version has: finders, timing, alignment; `fixed` says where no data is. @param {number} version */
function frame(version) {
  const size = sizeOf(version)
  const square = () => Array.from({ length: size }, () => /** @type {number[]} */ (Array(size).fill(0)))
  const [fixed, rows] = [square(), square()]
  const set = (/** @type {number} */ y, /** @type {number} */ x, /** @type {number} */ bit) => {
    if (y < 0 || x < 0 || y >= size || x >= size) return
    fixed[y][x] = 1
    rows[y][x] = bit
  }
  const rings = (/** @type {number} */ y, /** @type {number} */ x, /** @type {number} */ radius, /** @type {number[]} */ dark) => {
    for (let dy = -radius; dy <= radius; dy++) for (let dx = -radius; dx <= radius; dx++) set(y + dy, x + dx, dark[Math.max(Math.abs(dy), Math.abs(dx))])
  }
  for (let i = 0; i < size; i++) for (const [y, x] of [[6, i], [i, 6]]) set(y, x, 1 - i % 2)
  for (const [y, x] of [[3, 3], [3, size - 4], [size - 4, 3]]) rings(y, x, 4, [1, 1, 0, 1, 0])
  if (version > 1) rings(size - 7, size - 7, 2, [1, 0, 1])
  for (let i = 0; i < 9; i++) for (const [y, x] of [[8, i], [i, 8], [8, size - 1 - i], [size - 1 - i, 8]]) if (i < 8 || y === x) fixed[y][x] = 1
  rows[size - 8][8] = 1
  return { fixed, rows }
}

/** The bits, upwards and downwards by turns, in columns of two from the right. @param {number[][]} rows @param {number[][]} fixed @param {number[]} bits */
function lay(rows, fixed, bits) {
  const size = rows.length
  let at = 0
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right = 5     // the column of the timing
    for (let i = 0; i < size; i++) {
      const y = isUp ? size - 1 - i : i
      for (const x of [right, right - 1]) if (!fixed[y][x]) rows[y][x] = bits[at++] ?? 0
    }
  }
}

/** Beside the finders: correction M, which is 00, and the mask. @param {number[][]} rows @param {number} mask */
function withFormat(rows, mask) {
  const size = rows.length
  let rest = mask << 10
  for (let bit = 14; bit >= 10; bit--) if (rest >> bit & 1) rest ^= FORMAT.generator << bit - 10
  const format = (mask << 10 | rest) ^ FORMAT.mask
  for (let i = 0; i < 15; i++) {
    const bit = format >> i & 1
    const down = i < 6 ? i : i < 8 ? i + 1 : size - 15 + i
    const across = i < 8 ? size - 1 - i : i === 8 ? 7 : 14 - i
    rows[down][8] = bit
    rows[8][across] = bit
  }
  return rows
}

/** How badly it reads: long runs, squares, what looks like a finder, more dark than light. @param {number[][]} rows */
function penalty(rows) {
  const size = rows.length
  const columns = rows.map((_, x) => rows.map((row) => row[x]))
  let total = 0
  for (const line of [...rows, ...columns].map((each) => each.join(''))) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) total += run.length - 2
    for (const finder of FINDERS) for (let at = line.indexOf(finder); at >= 0; at = line.indexOf(finder, at + 1)) total += 40
  }
  for (let y = 1; y < size; y++) {
    for (let x = 1; x < size; x++) if (rows[y][x] === rows[y - 1][x] && rows[y][x] === rows[y][x - 1] && rows[y][x] === rows[y - 1][x - 1]) total += 3
  }
  return total + 10 * Math.floor(Math.abs(sum(rows.flat()) / size ** 2 - 0.5) * 20)
}
