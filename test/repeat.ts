import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wasEnded } from './support/ended-run.ts'
import { type Failure, flakyLines } from './support/failures.ts'
import { root } from './support/imports.ts'

// usage: npm run test-repeat -- [times] [files or AVA options]
// Runs the suite that many times (10 unless told) and names what failed in any of the runs, with how often.

const [first = '', ...others] = process.argv.slice(2)
const isTimes = /^[1-9]\d*$/.test(first)
const times = isTimes ? Number(first) : 10
const args = isTimes || first === '' ? others : [first, ...others]

const folder = mkdtempSync(join(tmpdir(), 'signalbox-repeat-'))
const runs: Failure[][] = []
for (let run = 1; run <= times; run++) {
  console.log(`run ${run} of ${times}`)
  const began = Date.now()
  const file = join(folder, `${run}.json`)
  const exit = spawnSync(process.execPath, ['--import', 'tsx', 'test/run.ts', ...args], {
    cwd: root,
    env: { ...process.env, TEST_FAILURES: file },
    stdio: 'inherit',
  })
  if (wasEnded(exit)) break // what is known so far is told
  runs.push(failures(file, exit.status))
  console.log(`run ${run} took ${Math.round((Date.now() - began) / 1000)} s`)
}
rmSync(folder, { recursive: true, force: true })
const lines = flakyLines(runs)
console.log(lines.length === 0 ? `nothing failed in ${runs.length} runs` : ['failed:', ...lines].join('\n'))
process.exitCode = lines.length === 0 && runs.length === times ? 0 : 1

/** A run that failed without saying why (no services, a crash of the runner) is a failure too. */
function failures(file: string, status: number | null): Failure[] {
  let named: Failure[] = []
  try {
    named = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // it ended before it could write them
  }
  return named.length === 0 && status !== 0 ? [{ file: '', title: `the run itself (exit code ${status})` }] : named
}
