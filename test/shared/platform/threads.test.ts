import { getPriority } from 'node:os'
import test from 'ava'
import { UnavailableError } from '#shared/errors.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { openThreads, type ThreadLimits } from '#shared/platform/process/threads.ts'
import { watchLoop } from '../../support/main-thread.ts'
import type { tasks } from './costly-tasks.ts'

const FOREVER_MS = 600_000

function open(limits: Partial<ThreadLimits> = {}) {
  return openThreads<typeof tasks>(
    new URL('./costly-tasks.ts', import.meta.url),
    { log: createLog('silent', 'test'), metrics: createMetrics() },
    { threads: 1, waiting: 1, waitMs: 60_000, taskMs: 60_000, memoryMb: 64, ...limits },
  )
}

test.serial('a task in a thread does not block the event loop', async (t) => {
  await using threads = open()
  await threads.run('spin', 0)
  const loop = watchLoop()
  t.is(await threads.run('spin', 1_000), 1_000)
  loop.stop()
  t.true(loop.longestMs() < 100, `the loop was held for ${loop.longestMs()} ms`)
})

test('a task that takes too long is ended with a retry time, and the next one has a new thread', async (t) => {
  await using threads = open({ taskMs: 2_000 })
  const error = await t.throwsAsync(threads.run('spin', FOREVER_MS), { instanceOf: UnavailableError })
  t.regex(error.message, /too slow/)
  t.true(error.retryAfterSeconds > 0)
  t.is(await threads.run('spin', 1), 1, 'the start of a thread is not counted')
})

test('a task that takes too much memory takes down nothing but itself', async (t) => {
  await using threads = open()
  const error = await t.throwsAsync(threads.run('hoard', undefined as never), { instanceOf: UnavailableError })
  t.regex(error.message, /too large/)
  t.is(await threads.run('spin', 1), 1)
})

test('more than may wait are refused at once', async (t) => {
  await using threads = open()
  const taken = [threads.run('spin', 1), threads.run('spin', 2)]
  const error = await t.throwsAsync(threads.run('spin', 3), { instanceOf: UnavailableError })
  t.regex(error.message, /too busy/)
  t.deepEqual(await Promise.all(taken), [1, 2])
  t.is(await threads.run('spin', 4), 4)
})

test('waiting too long for a thread fails with a retry time', async (t) => {
  await using threads = open({ waitMs: 1 })
  const error = await t.throwsAsync(threads.run('spin', FOREVER_MS), { instanceOf: UnavailableError })
  t.regex(error.message, /too busy/)
  t.true(error.retryAfterSeconds > 0)
})

test('an error of a task is passed unchanged, and a thread knows no settings', async (t) => {
  await using threads = open()
  await t.throwsAsync(threads.run('fail', undefined as never), { message: 'failure of a task' })
  t.deepEqual(await threads.run('settings', undefined as never), [])
})

test('the event loop has priority over threads if processors are busy', async (t) => {
  await using threads = open()
  const own = getPriority()
  // Priorities are of threads only on Linux; elsewhere the process keeps its own.
  const expected = process.platform === 'linux' ? Math.min(19, own + 10) : own
  t.is(await threads.run('priority', undefined as never), expected)
  t.is(getPriority(), own)
})

test('closing ends running tasks', async (t) => {
  const threads = open()
  await threads.run('spin', 1)
  const task = threads.run('spin', FOREVER_MS)
  await Promise.all([t.throwsAsync(task), threads[Symbol.asyncDispose]()])
})
