import { getPriority } from 'node:os'
import { taskRunner } from '#shared/platform/process/thread-tasks.ts'

/** Tasks that use a given amount of time or memory, for tests of the threads that run them. */
export const tasks = {
  spin: (ms: number) => {
    const end = performance.now() + ms
    while (performance.now() < end);
    return ms
  },
  hoard: () => {
    const kept: number[][] = []
    for (;;) kept.push(Array<number>(1_000_000).fill(0.5))
  },
  fail: () => {
    throw new RangeError('failure of a task')
  },
  priority: () => getPriority(),
  settings: () => Object.keys(process.env),
} as const

export const run = taskRunner(tasks)
