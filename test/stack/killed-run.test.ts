import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { identify } from '../../stack/process-identity.ts'
import { eventually } from '../support/eventually.ts'
import { root } from '../support/imports.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A process as AVA forks it, which has started another, and says both. */
const WORKER = `
  import { spawn } from 'node:child_process'
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
  console.log(JSON.stringify([process.pid, child.pid]))`

const RUN = `
  import { fork } from 'node:child_process'
  fork(process.argv[1], { execArgv: process.argv.slice(2), stdio: 'inherit' })`

const loaded = ['load-typescript', 'exit-at-once'].map((name) => `--import=${join(root, 'test/support', `${name}.ts`)}`)

test('a test process whose run is killed ends, and so does what it has started', async (t) => {
  const worker = join(temporaryFolder('signalbox-killed-run'), 'worker.mjs')
  writeFileSync(worker, WORKER)
  const run = spawn(process.execPath, ['--input-type=module', '--eval', RUN, '--', worker, ...loaded], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(run.stdout, 'data')
  const pids: number[] = JSON.parse(said)
  const processes = await Promise.all(pids.map(identify))
  t.true(processes.length === 2 && processes.every((one) => one !== undefined), 'both run')
  run.kill('SIGKILL')
  for (const pid of pids) await eventually('its end', async () => (await identify(pid)) === undefined)
})
