import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { countTests } from './support/count-tests.ts'
import { failuresOf } from './support/failures.ts'
import { reaches, root, sourcesBelow } from './support/imports.ts'
import { prepareRun } from './support/prepare-run.ts'
import { readProgress } from './support/progress-record.ts'
import { slowestFiles, watchProgress } from './support/watch-progress.ts'

// usage: npm test -- [--unit] [files or AVA options]

/** A test process waits for servers and deadlines for more than half of its time: two of them keep a core busy. */
const SIDE_BY_SIDE = 2 * availableParallelism()

const given = process.argv.slice(2).filter((arg) => arg !== '--unit')
const isUnit = process.argv.includes('--unit')
const needServices = ['test/support/services.ts', 'test/support/own-servers.ts']
const all = sourcesBelow('test').filter((file) => /\.test\.tsx?$/.test(file))
const withServices = all.filter((file) => reaches(file, needServices))

const files = isUnit ? all.filter((file) => !withServices.includes(file)) : []
const named = withServices.filter((file) => given.some((arg) => file.includes(arg.replace(/^\.\//, ''))))
const vhosts = given.length > 0 ? named.length : withServices.length

/** Compiled code, kept over runs: each test process loads a thousand modules, and compiling is a sixth of that. */
const compileCache = join(root, 'node_modules/.cache/compiled')
const progress = mkdtempSync(join(tmpdir(), 'signalbox-progress-'))
/** Stories of time-outs, kills and floods: beside many others on the same cores their deadlines would mean nothing. */
const stories = all.filter((file) => /^test\/(e2e|examples|faults|fuzz)\//.test(file))
const runs = isUnit ? [await runAva([...given, ...files], {}, SIDE_BY_SIDE)] : await runWithServices()
const exitCode = runs.find((run) => run.exitCode !== 0)?.exitCode ?? 0
const report = runs.map((run) => run.report).join('\n')
const records = readProgress(progress)
const slowest = slowestFiles(records, 10)
if (slowest.length > 1) console.log(['the files that took longest:', ...slowest].join('\n'))
if (process.env.TEST_FAILURES)
  writeFileSync(process.env.TEST_FAILURES, JSON.stringify(exitCode === 0 ? [] : failuresOf(records, report)))
rmSync(progress, { recursive: true, force: true })
const counts = runs.map((run) => countTests(run.report, run.exitCode))
const [passed, failed] = [total(({ passed }) => passed), total(({ failed }) => failed)]
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

interface AvaRun {
  exitCode: number
  report: string
}

/** What is named, at once; else everything, with the stories last and fewer at a time. */
async function runWithServices(): Promise<AvaRun[]> {
  await using run = await prepareRun(vhosts, (line) => console.log(line))
  if (given.length > 0) return [await runAva(given, run.environment, SIDE_BY_SIDE)]
  const others = all.filter((file) => !stories.includes(file))
  return [
    await runAva(others, run.environment, SIDE_BY_SIDE),
    await runAva(stories, run.environment, availableParallelism()),
  ]
}

function total(of: (count: { passed: number; failed: number }) => number): number {
  return counts.reduce((sum, count) => sum + of(count), 0)
}

/** Runs AVA to its end, showing its report as it comes. On a signal AVA is told to end, so that we can clean up. */
async function runAva(
  args: readonly string[],
  environment: Record<string, string>,
  concurrency: number,
): Promise<AvaRun> {
  const ava = join(root, 'node_modules/ava/entrypoints/cli.js')
  const child = spawn(process.execPath, [ava, '--concurrency', String(concurrency), ...args], {
    cwd: root,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: compileCache,
      ...environment,
      TEST_PROGRESS: progress,
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  using _watch = watchProgress(progress, (line) => console.log(line))
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  process.on('SIGINT', pass).on('SIGTERM', pass)
  let report = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    report += text
    process.stdout.write(text)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    report += text
    process.stderr.write(text)
  })
  const exitCode = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  if (!report.endsWith('\n')) process.stdout.write('\n')
  return { exitCode, report }
}
