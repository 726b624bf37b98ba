import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { countTests, type TestCount } from './support/count-tests.ts'
import { exitCodeOf } from './support/ended-run.ts'
import { type Failure, failureLine, failuresOf } from './support/failures.ts'
import { reaches, root, sourcesBelow } from './support/imports.ts'
import { prepareRun } from './support/prepare-run.ts'
import { readProgress } from './support/progress-record.ts'
import { afterSecondTry, filesToTryAgain } from './support/second-try.ts'
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

/** Compiled code, kept over runs: each test process loads a thousand modules, and compiling is a sixth of that. */
const compileCache = join(root, 'node_modules/.cache/compiled')
const progress = mkdtempSync(join(tmpdir(), 'signalbox-progress-'))
/** Time-outs, kills and floods: beside many others on the same cores their deadlines would mean nothing. */
const FAULTS_SIDE_BY_SIDE = SIDE_BY_SIDE
const isOfFaults = (file: string) => /^test\/(faults|fuzz)\//.test(file)
const faults = all.filter(isOfFaults)
/** They may leave a virtual host with queues that others do not expect: each gets one that nobody had. */
const FRESH_VHOSTS = { TEST_VHOSTS: 'fresh' }
/** The others hand theirs on. */
const vhosts = given.length > 0 ? named.length : 3 * SIDE_BY_SIDE + withServices.filter(isOfFaults).length
/** `make test-repeat` looks for what fails now and then: it gives nothing a second try. */
const isRepeat = process.env.TEST_FAILURES !== undefined
/** After a signal nothing new begins, and what has begun, the preparation too, is taken back. */
const over = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    over.abort(new Error(`the run was ended by ${signal}`))
    process.once('exit', () => (process.exitCode = exitCodeOf(signal)))
  })
// Also when there is no verdict.
process.once('exit', () => rmSync(progress, { recursive: true, force: true }))
const verdict = isUnit ? judge([await runAva([...given, ...files], {}, SIDE_BY_SIDE)]) : await runWithServices()
if (process.env.TEST_FAILURES) writeFileSync(process.env.TEST_FAILURES, JSON.stringify(verdict.failures))
// What failed comes last: of a long report often only the end is kept.
if (verdict.slowest.length > 1) console.log(['the files that took longest:', ...verdict.slowest].join('\n'))
if (verdict.unsteady.length > 0)
  console.log(['failed at first, passed alone:', ...verdict.unsteady.map(failureLine)].join('\n'))
if (verdict.failures.length > 0) console.log(['failed:', ...verdict.failures.map(failureLine)].join('\n'))
console.log(`${verdict.count.passed} passed, ${verdict.count.failed} failed`)
process.exitCode = verdict.count.failed > 0 ? 1 : 0

interface AvaRun {
  exitCode: number
  report: string
}

interface Verdict {
  count: TestCount
  failures: Failure[]
  unsteady: Failure[]
  slowest: string[]
}

/** What is named, at once; else everything, with the faults last and fewer at a time. */
async function runWithServices(): Promise<Verdict> {
  await using run = await prepareRun(vhosts, (line) => console.log(line), over.signal)
  const withFresh = { ...run.environment, ...FRESH_VHOSTS }
  if (given.length > 0)
    return judge([await runAva(given, named.some(isOfFaults) ? withFresh : run.environment, SIDE_BY_SIDE)])
  const others = all.filter((file) => !faults.includes(file))
  const runs = [
    await runAva(others, run.environment, SIDE_BY_SIDE),
    ...(over.signal.aborted ? [] : [await runAva(faults, withFresh, FAULTS_SIDE_BY_SIDE)]),
  ]
  const first = judge(runs)
  const again = isRepeat || over.signal.aborted ? [] : filesToTryAgain(first.failures, all)
  if (again.length === 0) return first
  console.log(['once more, alone:', ...again].join('\n'))
  const folder = join(progress, 'again')
  mkdirSync(folder)
  const second = judge([await runAva(again, withFresh, 1, folder)], folder)
  return { ...second, ...afterSecondTry(first, second), slowest: first.slowest }
}

/** @param folder where the processes of these runs recorded their progress */
function judge(runs: readonly AvaRun[], folder = progress) {
  const records = readProgress(folder)
  const counts = runs.map((run) => countTests(run.report, run.exitCode))
  const isGreen = runs.every(({ exitCode }) => exitCode === 0)
  return {
    records,
    count: { passed: total(counts, 'passed'), failed: total(counts, 'failed') },
    failures: isGreen ? [] : failuresOf(records, runs.map(({ report }) => report).join('\n')),
    unsteady: [],
    slowest: slowestFiles(records, 12),
  }
}

function total(counts: readonly TestCount[], of: keyof TestCount): number {
  return counts.reduce((sum, count) => sum + count[of], 0)
}

/** Runs AVA to its end, showing its report as it comes. On a signal AVA is told to end, so that we can clean up. */
async function runAva(
  args: readonly string[],
  environment: Record<string, string>,
  concurrency: number,
  folder = progress,
): Promise<AvaRun> {
  const ava = join(root, 'node_modules/ava/entrypoints/cli.js')
  const child = spawn(process.execPath, [ava, '--concurrency', String(concurrency), ...args], {
    cwd: root,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: compileCache,
      ...environment,
      TEST_PROGRESS: folder,
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  using _watch = watchProgress(folder, (line) => console.log(line))
  const pass = (signal: NodeJS.Signals) => void child.kill(signal)
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
