import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { root } from '../support/imports.ts'

const read = (pid: string, what: string) => {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'latin1')
  } catch {
    return '' // it ended
  }
}

/** What runs with this mark in its environment, whoever its parent is by now. The port mapper is one per machine, and stays. */
function marked(mark: string): string[] {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && read(pid, 'environ').includes(mark) && read(pid, 'comm').trim() !== 'epmd',
  )
}

test('a run that is ended while it prepares takes its servers back, and is not begun again', async (t) => {
  if (process.platform !== 'linux') {
    t.pass('there is no /proc to look into')
    return
  }
  t.timeout(230_000)
  const mark = randomUUID()
  const repeat = spawn(process.execPath, ['--import', 'tsx', 'test/repeat.ts', '2', 'test/stack/count-tests.test.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, STACK_SERVICES: 'binaries', ENDED_RUN: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => repeat.kill('SIGKILL'))
  const ended = once(repeat, 'exit')
  let said = ''
  for (const stream of [repeat.stdout, repeat.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await eventually('its second server to be started', () => said.includes('starting a RabbitMQ node'))
  const data = marked(mark).flatMap((pid) => /-D\0([^\0]+\/postgres\/data)/.exec(read(pid, 'cmdline'))?.[1] ?? [])
  t.is(data.length, 1, 'its PostgreSQL runs')
  const run = marked(mark).find((pid) => read(pid, 'cmdline').includes('\0test/run.ts\0'))
  process.kill(Number(run), 'SIGTERM')
  const [code] = await ended
  t.is(code, 1, said)
  t.regex(said, /the run was ended by SIGTERM/)
  t.notRegex(said, /run 2 of 2/)
  t.regex(said, /nothing failed in 0 runs/, 'what was under way says nothing about the tests')
  t.notRegex(said, /passed/, 'no test process began')
  await eventually('all of it to be gone', () => marked(mark).length === 0)
  t.false(existsSync(data[0] ?? ''), 'nor is its folder left')
})
