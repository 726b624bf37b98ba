import { join } from 'node:path'
import { explainCommandLine, parseOptions } from '#shared/platform/process/command-line.ts'
import { root } from '../support/imports.ts'
import { fractionsOf } from '../support/random.ts'
import { faults } from './faults.ts'
import { openServers } from './servers.ts'
import { type SoakRow, soak } from './soak.ts'
import type { Fault } from './stage.ts'

// usage: node --import tsx test/soak/main.ts [--minutes N] [--seed N] [--only TEXT,TEXT] [--once]

const USUAL_MINUTES = 120
/** Number of faults in a run, for example one every five minutes in two hours. */
const FAULTS = 24

const values = readValues()
function readValues() {
  try {
    return parseOptions({
      options: {
        minutes: { type: 'string', default: process.env.SOAK_MINUTES ?? String(USUAL_MINUTES) },
        seed: { type: 'string', default: process.env.SOAK_SEED ?? String(Math.floor(Math.random() * 2 ** 31)) },
        only: { type: 'string', default: '' },
        once: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    return explainCommandLine(error)
  }
}
const minutes = Number(values.minutes)
const seed = Number(values.seed)
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error('--minutes must be a number above 0 and --seed an integer')
  process.exit(2)
}
const wanted = values.only.split(',')
const chosen = faults.filter(({ name }) => wanted.some((text) => name.includes(text)))
if (chosen.length === 0) {
  console.error(`--only must match one of:\n${faults.map(({ name }) => name).join('\n')}`)
  process.exit(2)
}
const length = values.once ? 'soak with each fault once' : `soak of ${minutes} minutes`
console.log(`${length}, ${chosen.length} kinds of faults, seed ${seed}`)
const random = fractionsOf(seed)
/** Set at the first fault, because the start of the servers does not count. */
let began = 0
const more = () => {
  began ||= performance.now()
  return !isEnded && (values.once || performance.now() < began + minutes * 60_000)
}
// A signal ends the soak after the current fault, so that its servers and processes are stopped.
let isEnded = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isEnded = true
    console.log('ending after this fault')
  })
}
// All processes share a compile cache.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled')
const report = await soak({
  openServers: () => openServers({ nodes: 3, hasStandby: true }),
  copies: 2,
  outages: { silent: 3, failing: 2 },
  faults: values.once ? chosen : shuffledEndlessly(chosen),
  random,
  more,
  intervalMs: values.once ? 0 : (minutes * 60_000) / FAULTS,
  report: (row) => {
    const at = Math.round((performance.now() - began) / 1000)
    const state = row.found.length === 0 ? 'ok' : 'WRONG'
    console.log(`${String(at).padStart(5)} s  ${state.padEnd(5)}  ${row.fault}, over in ${Math.round(row.seconds)} s`)
    for (const line of row.found) console.log(`              ${line}`)
  },
})
console.log(table(report.rows))
const { evidence } = report
console.log(
  `${report.pings} pings, ${evidence.packs} packs, ${evidence.deliveries} deliveries (${evidence.repeated} repeated), ` +
    `${evidence.entries} log entries, consistent with ${evidence.checkpoints} published checkpoints`,
)
if (report.found.length > 0) {
  console.log(`the results differ from the expected ones (seed ${seed}):`)
  for (const line of report.found) console.log(`  ${line}`)
} else console.log('all results are as expected')
// All started processes have ended. A broken connection could keep the event loop alive.
process.exit(report.found.length > 0 ? 1 : 0)

/** Returns the table of docs. Gaps are of all listeners together, and of the worst one. */
function table(rows: readonly SoakRow[]): string {
  const cells = rows.map((row) => [
    row.fault,
    (row.gapMs / 1000).toFixed(1),
    (row.worstGapMs / 1000).toFixed(1),
    `${row.refused} of ${row.sent}`,
    row.lost,
    row.doubled,
    row.falseDowns,
    `${row.flips}, ${row.messages}`,
    row.repeated,
    row.found.length,
  ])
  const head =
    'Fault|Gap, s|of one listener|Refused|Lost|Duplicate|False downs|Flips, messages|Repeated messages|Discrepancies'
  const lines = [head.split('|'), head.split('|').map((_, column) => (column === 0 ? '---' : '---:')), ...cells]
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n')
}

/** Yields every fault once in a random order, then again in another order. */
function* shuffledEndlessly(all: readonly Fault[]): Generator<Fault> {
  for (;;)
    yield* all
      .map((fault) => ({ fault, at: random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ fault }) => fault)
}
