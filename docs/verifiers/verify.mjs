// Section 12: the command line. node verify.mjs [--json] FILE...
//
// Transcripts are judged one by one, then compared two by two; files of evidence are weighed beside them (section 14).

import { createReadStream } from 'node:fs'
import {
  EVIDENCE, FILE_LIMIT, Malformed, compare, isOf, nameOf, readEvidenceFile, startsWith, verify, weigh
} from '../../client/truc_web/lib/index.mjs'

const EXIT = { refuted: 1, unreadable: 2, incomplete: 3, proven: 0 }     // the worst first
const worst = (results) => Object.keys(EXIT).find((result) => results.includes(result)) ?? null

const named = ({ culprit, ...rest }) => ({ ...rest, culprit: culprit === null ? null : nameOf(culprit) })

// `told` is what stands in the JSON: not the record that failed, which is for `compare`.
async function transcriptOf(file, bytes) {
  const verdict = await verify(bytes)
  const { table, ledger, failed, ...rest } = verdict
  const unopened = ledger?.unopened.map(({ j, seats }) => [j, seats]) ?? []
  const { exposed = null, covered: records = 0 } = ledger ?? {}
  const told = { file, ...named(rest), level: table?.level ?? null, records, exposed, unopened }
  return { file, verdict, told }
}

function evidenceOf(file, bytes, transcripts) {
  try {
    const items = readEvidenceFile(bytes)
    const evidence = items.flatMap((item) => {
      const beside = transcripts.filter(({ verdict }) => isOf(item, verdict))
      if (beside.length === 0) return [{ kind: item.kind, transcript: null, result: 'incomplete' }]
      return beside.map(({ file: transcript, verdict }) => {
        const shown = named(weigh(item, verdict))
        return { kind: item.kind, transcript, result: shown.check === null ? null : 'refuted', ...shown }
      })
    })
    return { file, items, told: { file, result: worst(evidence.map(({ result }) => result)), evidence } }
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    return { file, items: [], told: { file, result: 'unreadable', evidence: [] } }
  }
}

function pairsOf(transcripts, refusals) {
  return transcripts.flatMap((first, i) => transcripts.slice(i + 1).flatMap((second) =>
    compare(first.verdict, second.verdict, refusals).map((found) =>
      ({ files: [first.file, second.file], result: 'refuted', ...named(found) }))))
}

const blame = ({ culprit }) => culprit === null ? 'the records show nobody to blame' : `to blame: ${culprit}`

function headline(told) {
  const { result, check, record, setup } = told
  if (result === 'proven') return 'proven: deals, signatures, acts and points verified'
  if (result === 'incomplete') return 'incomplete: what is there passes, but the match has no end'
  if (result === 'unreadable') return 'unreadable: no transcript, or cut in the middle of a record'
  return `refuted: record ${record ?? `${setup} of the setup`} fails ${check}; ${blame(told)}`
}

function outcome({ winner, reason, score }) {
  const games = score.map((side) => side.join('/')).join(' to ')
  const by = ['forfeit', 'abandoned'].includes(reason) ? ', decided by a ruling of the server' : ''
  return `${winner === null ? 'no winner' : `side ${winner} wins`} (${reason}${by}), score ${games}`
}

// Left out, of the number of records too, is what anybody could have written: see `covered`.
function detailsOf({ ledger }, { level, records }) {
  if (ledger === null) return []
  const lines = [`level ${level}, ${records} records`]
  if (ledger.result !== null) lines.push(outcome(ledger.result))
  for (const what of ['ruling', 'void', 'proxy']) {
    const told = ledger.story.filter((item) => item.what === what && item.k < ledger.covered)
    if (told.length > 0) lines.push(`${what}: ` + told.map((item) => `${item.k} ${item.text}`).join('; '))
  }
  if (ledger.exposed !== null) lines.push(`exposed: seat ${ledger.exposed.seat} (${ledger.exposed.kind})`)
  ledger.unopened.forEach(({ j, seats }) => lines.push(`deal ${j} was not opened by seats ${seats.join(', ')}`))
  const counted = ledger.records.slice(0, ledger.covered)
  ledger.seats.forEach((_, q) => {
    const newest = counted.findLast(({ signer }) => signer === q + 1)
    if (newest) lines.push(`seat ${q} has signed all before position ${newest.fields.k}`)
  })
  return lines
}

function tell({ transcripts, evidence, pairs }) {
  for (const { file, verdict, told } of transcripts) {
    console.log([`${file}: ${headline(told)}`, ...detailsOf(verdict, told)].join('\n  '))
  }
  for (const { file, told } of evidence) {
    console.log(`${file}: evidence, ${told.result ?? 'which shows nothing'}`)
    for (const { kind, transcript, judgement, check, record, culprit } of told.evidence) {
      const shows = check ? `record ${record} fails ${check}; ${blame({ culprit })}` : judgement ?? 'shows nothing'
      console.log(`  ${kind} beside ${transcript ?? 'no transcript of its match'}: ${shows}`)
    }
  }
  for (const { files, check, culprit } of pairs) {
    console.log(`${files.join(' and ')}: refuted: ${check}; ${blame({ culprit })}`)
  }
}

// A byte more than a file may have is enough to refuse it; some never end.
async function read(name) {
  const chunks = []
  for await (const chunk of createReadStream(name, { end: FILE_LIMIT })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function main(args) {
  const names = args.filter((arg) => arg !== '--json')
  if (names.length === 0) {
    console.error('usage: node verify.mjs [--json] FILE...')
    return EXIT.unreadable
  }
  const files = []
  for (const name of names) files.push([name, await read(name)])
  const isEvidence = ([, bytes]) => startsWith(bytes, EVIDENCE)
  const transcripts = []
  for (const file of files.filter((one) => !isEvidence(one))) transcripts.push(await transcriptOf(...file))
  const evidence = files.filter(isEvidence).map((file) => evidenceOf(...file, transcripts))
  const refusals = evidence.flatMap(({ items }) => items).filter(({ kind }) => kind === 'refusal')
  const pairs = pairsOf(transcripts, refusals)
  const told = [...transcripts.map((one) => one.told), ...evidence.map((one) => one.told), ...pairs]
  if (args.includes('--json')) told.forEach((one) => console.log(JSON.stringify(one)))
  else tell({ transcripts, evidence, pairs })
  return EXIT[worst(told.map(({ result }) => result)) ?? 'incomplete']     // null without a transcript
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (error.syscall === undefined) throw error     // else a file that cannot be opened
  console.error(error.message)
  process.exitCode = EXIT.unreadable
}
