import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { identify } from '../../stack/process-identity.ts'
import { eventually } from '../support/eventually.ts'
import { root } from '../support/imports.ts'
import { progressOf, readProgress, writeEvent } from '../support/progress-record.ts'
import { slowestFiles, stallText, watchProgress } from '../support/watch-progress.ts'

const config = `export default {
  files: ['*.test.ts'], extensions: ['ts'], nodeArguments: ['--import=tsx'], workerThreads: false, timeout: '5m',
  require: [${JSON.stringify(join(root, 'test/support/record-progress.ts'))}],
}`

/** What the watch says of a project whose one test file has this text, until it kills the file's process. */
async function watched(source: string): Promise<{ said: string; code: number | null }> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-stall-'))
  const progress = join(folder, 'progress')
  mkdirSync(progress)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'ava.config.js'), config)
  writeFileSync(join(folder, 'stalls.test.ts'), source)
  const said: string[] = []
  using _watch = watchProgress(progress, (line) => said.push(line), { reportAfterMs: 6_000, killAfterMs: 30_000 })
  const ava = spawn(process.execPath, [join(root, 'node_modules/ava/entrypoints/cli.js')], {
    cwd: folder,
    env: { PATH: process.env.PATH, TEST_PROGRESS: progress, TEST_STALL_MS: '1000' },
    stdio: 'ignore',
  })
  const [code] = await once(ava, 'close')
  rmSync(folder, { recursive: true, force: true })
  return { said: said.join('\n'), code: typeof code === 'number' ? code : null }
}

test('a test that hangs is named with what it waits for, and its process ends', async (t) => {
  const { said, code } = await watched(`
    import { eventually } from ${JSON.stringify(join(root, 'test/support/eventually.ts'))}
    import test from 'ava'
    test('passes', (t) => t.pass())
    test('waits for ever', async (t) => { await eventually('a goose', () => false, 60_000) })`)
  t.regex(said, /^no progress for \d+ s: .*stalls\.test\.ts$/m)
  t.regex(said, /^ {2}in the test: waits for ever$/m)
  t.regex(said, /^ {2}waits for: a goose \(for \d+ s\)$/m)
  t.regex(said, /^ {2}open: .*Timeout/m)
  t.notRegex(said, /passes/)
  t.regex(said, /^killed the process of /m)
  t.not(code, 0)
})

test('a test that never yields is named too', async (t) => {
  const { said, code } = await watched(`
    import test from 'ava'
    // Asleep rather than turning in circles: other tests want the processor.
    test('never yields', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) })`)
  t.regex(said, /^ {2}in the test: never yields$/m)
  t.regex(said, /its event loop is blocked/)
  t.not(code, 0)
})

test('the processes that a hanging test started end with it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-tree-'))
  const notes = ['child', 'grandchild'].map((name) => join(folder, name))
  const forever = 'setInterval(() => {}, 1000)'
  const child = `require('node:fs').writeFileSync(${JSON.stringify(notes[1])},
    String(require('node:child_process').spawn(process.execPath, ['-e', '${forever}'], { stdio: 'ignore' }).pid))
    ${forever}`
  const { said } = await watched(`
    import { spawn } from 'node:child_process'
    import { writeFileSync } from 'node:fs'
    import test from 'ava'
    test('leaves its processes', async () => {
      const child = spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'ignore' })
      writeFileSync(${JSON.stringify(notes[0])}, String(child.pid))
      await new Promise(() => setInterval(() => {}, 1000))
    })`)
  t.regex(said, /^killed the process of .* and [1-9]\d* below it$/m)
  for (const note of notes) {
    const pid = Number(readFileSync(note, 'utf8'))
    await eventually('the process to be gone', async () => (await identify(pid)) === undefined)
  }
  rmSync(folder, { recursive: true })
})

test('a before hook that hangs is told from a test', async (t) => {
  const { said } = await watched(`
    import test from 'ava'
    test.before(async () => { await new Promise((resolve) => setTimeout(resolve, 60_000)) })
    test('never comes', (t) => t.pass())`)
  t.regex(said, /^ {2}before its first test/m)
})

test('a process that is about to write its first event is not taken for one that hangs', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-stall-'))
  writeFileSync(join(folder, `${process.pid}.jsonl`), '')
  t.deepEqual(readProgress(folder), [])
  rmSync(folder, { recursive: true })
})

test('a file that is past its tests is in an after hook, and one that ended is listed with what it took', (t) => {
  const lines = [
    { at: 1_000, event: 'file', file: 'a.test.ts' },
    { at: 2_000, event: 'start', title: 'one' },
    { at: 3_000, event: 'end', title: 'one', passed: true },
  ].map((event) => `${JSON.stringify(event)}\n`)
  t.regex(stallText(progressOf(1, lines.join('')), 60_000), /after a test: in an after hook/)
  t.deepEqual(slowestFiles([progressOf(1, lines.join(''))], 5), [])
  const exit = `${JSON.stringify({ at: 9_000, event: 'exit', cpuSeconds: 1.25 })}\n`
  t.deepEqual(slowestFiles([progressOf(1, lines.join('') + exit)], 5), ['    8.0 s     1.3 s CPU  a.test.ts'])
})

test('a pid that comes again is another process', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-stall-'))
  for (const since of [1_000, 60_000]) {
    const process = { pid: 7, since }
    writeEvent(folder, process, { at: since, event: 'file', file: `${since}.test.ts` })
    writeEvent(folder, process, { at: since + 2_000, event: 'exit', cpuSeconds: 1 })
  }
  t.deepEqual(slowestFiles(readProgress(folder), 2), [
    '    2.0 s     1.0 s CPU  1000.test.ts',
    '    2.0 s     1.0 s CPU  60000.test.ts',
  ])
  rmSync(folder, { recursive: true })
})
