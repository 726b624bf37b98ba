import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBrowserServer } from './support/browser.ts'
import { countTests } from './support/count-tests.ts'
import { reaches, root } from './support/imports.ts'
import { prepareServers } from './support/prepare-servers.ts'
import { groupFiles, type Layer, selectFiles, type TestGroup, testFiles, writeEntries } from './support/test-groups.ts'

// usage: npm test -- [--layer=unit|api|system]... [FILE or folder]... [other AVA options]
// Without a layer or file: unit and api. docs/testing.md describes the layers.

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
const { exitCode, report } = await runAva(groups, { ...servers.environment, ...browser?.environment })
const count = countTests(report, exitCode)
console.log(
  `${selected.size} files, ${Math.round(performance.now() / 1000)} s, ${processorSeconds()} s of processor time`,
)
console.log(`${count.passed} passed, ${count.failed} failed`)
process.exitCode = count.failed > 0 ? 1 : 0

/** Runs AVA to its end and passes its report on. If the run is ended by a signal, AVA ends first. */
async function runAva(
  entries: readonly TestGroup[],
  environment: Readonly<Record<string, string>>,
): Promise<{ exitCode: number; report: string }> {
  const ava = join(root, 'node_modules/ava/entrypoints/cli.js')
  const child = spawn(process.execPath, [ava, ...avaOptions, ...writeEntries(entries)], {
    cwd: root,
    env: {
      // Each test process loads up to a thousand modules: compiling them takes a sixth of that time.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
      ...process.env,
      ...environment,
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  ended.signal.addEventListener('abort', () => child.kill('SIGTERM'))
  let report = ''
  for (const [stream, target] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      report += text
      target.write(text)
    })
  }
  const exitCode = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)))
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
