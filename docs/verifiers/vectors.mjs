// The test vectors (docs/fairness/vectors.md): node vectors.mjs FOLDER

import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { outcomes } from '../../client/truc_web/lib/index.mjs'

async function runFile(path, count) {
  const read = async (name) => readFileSync(join(dirname(path), name))
  for await (const { type, t, outcome } of outcomes(JSON.parse(readFileSync(path)), read)) {
    count[outcome] = (count[outcome] ?? 0) + 1
    if (outcome === 'disagree') console.log(`${path}: ${type} ${t.tcId} (${t.comment}) is said to be ${t.result}`)
  }
}

async function main(folder) {
  const count = { agree: 0, disagree: 0 }
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = join(folder, entry.name)
    const inside = entry.isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path]
    for (const name of inside.filter((one) => one.endsWith('.json'))) await runFile(name, count)
  }
  const { agree, disagree, ...others } = count
  Object.entries(others).forEach(([outcome, tests]) => console.log(`${outcome}: ${tests} tests`))
  console.log(`${agree} agree, ${disagree} disagree`)
  return disagree > 0 ? 1 : 0
}

process.exitCode = await main(process.argv[2])
