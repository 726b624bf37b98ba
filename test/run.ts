import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { startBrowserServer } from './support/browser.ts'
import { countTests } from './support/count-tests.ts'
import { reaches, root } from './support/imports.ts'
import { prepareServers } from './support/prepare-servers.ts'
import { groupFiles, type Layer, selectFiles, testFiles, writeEntries } from './support/test-groups.ts'

// usage: npm test -- [--layer=unit|api|system]... [FILE or folder]... [other AVA options]
// Without a layer or file: unit and api. docs/testing.md describes the layers.

/**
 * Test processes that run at the same time: each waits for servers about half of its time. Each has its own AVA,
 * because AVA's `serial` option, which runs the tests of a process one after the other, also runs one process at a time.
 */
const CONCURRENCY = 2 * availableParallelism()

const args = process.argv.slice(2)
const paths = args.filter((arg) => !arg.startsWith('--'))
const layers = args.flatMap((arg) => (arg.startsWith('--layer=') ? [arg.slice('--layer='.length) as Layer] : []))
const avaOptions = args.filter((arg) => arg.startsWith('--') && !arg.startsWith('--layer='))

const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => ended.abort(new Error(`the run was ended by ${signal}`)))
}

const selected = selectFiles(testFiles(), { paths, layers })
if (selected.size === 0) {
  console.error(`no test file matches ${paths.join(' ') || layers.join(' ')}: name a file or folder below test/`)
  process.exit(1)
}
const groups = groupFiles(selected)
await using servers = await prepareServers(groups, (line) => console.log(line), ended.signal)
await using browser = [...selected.keys()].some((file) => reaches(file, ['test/support/browser.ts']))
  ? await startBrowserServer()
  : undefined
const queue = writeEntries(groups)
const count = { passed: 0, failed: 0 }
/** Reports of entries that failed are printed last, where a long log is read first. */
const failures: string[] = []
await Promise.all(Array.from({ length: CONCURRENCY }, runQueue))
for (const failure of failures) console.log(failure)
console.log(
  `${selected.size} files, ${Math.round(performance.now() / 1000)} s, ${processorSeconds()} s of processor time`,
)
console.log(`${count.passed} passed, ${count.failed} failed`)
process.exitCode = count.failed > 0 || ended.signal.aborted ? 1 : 0

/** Runs entries of the queue, each with its own AVA, until the queue is empty or the run is ended by a signal. */
async function runQueue(): Promise<void> {
  for (let entry = queue.shift(); entry !== undefined && !ended.signal.aborted; entry = queue.shift()) {
    const { exitCode, report } = await runAva(entry)
    const { passed, failed } = countTests(report, exitCode)
    count.passed += passed
    count.failed += failed
    const text = `${entry}\n${report}`
    if (failed > 0) failures.push(text)
    else console.log(text)
  }
}

async function runAva(entry: string): Promise<{ exitCode: number; report: string }> {
  const ava = join(root, 'node_modules/ava/entrypoints/cli.js')
  const child = spawn(process.execPath, [ava, ...avaOptions, entry], {
    cwd: root,
    env: {
      // Each test process loads up to a thousand modules: compiling them takes a sixth of that time.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
      ...process.env,
      ...servers.environment,
      ...browser?.environment,
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => child.kill('SIGTERM')
  ended.signal.addEventListener('abort', end)
  let report = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      report += text
    })
  }
  const exitCode = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  ended.signal.removeEventListener('abort', end)
  return { exitCode, report }
}

/** Returns the processor time of this process and of those below it that have ended; 0 where /proc is missing. */
function processorSeconds(): number {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const ticksPerSecond = 100
  return Math.round(fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond)
}
