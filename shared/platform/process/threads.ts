import { availableParallelism } from 'node:os'
import type { Piscina } from 'piscina'
import { UnavailableError } from '../../errors.ts'
import { describeError, type Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { TaskBegun, ThreadCall, ThreadTasks } from './thread-tasks.ts'

export interface Threads<Tasks extends ThreadTasks> {
  /** Throws UnavailableError at the limits of queue, time or memory; errors of the task as a plain error. */
  run<Name extends keyof Tasks & string>(
    task: Name,
    input: Parameters<Tasks[Name]>[0],
  ): Promise<Awaited<ReturnType<Tasks[Name]>>>
}

export interface ThreadLimits {
  threads: number
  waiting: number
  waitMs: number
  taskMs: number
  memoryMb: number
}

const LIMITS: ThreadLimits = {
  threads: Math.min(4, Math.max(1, availableParallelism() - 1)),
  waiting: 256,
  waitMs: 60_000,
  taskMs: 20_000,
  memoryMb: 256,
}
/** Threads get a lower priority than the event loop, which serves all requests. */
const NICE_INCREMENT = 10
const IDLE_MS = 60_000
const RETRY_AFTER_SECONDS = 2

type Problem = 'too busy' | 'too slow' | 'too large'

/**
 * Threads start on demand, and all but one end when idle. One that exceeds its time or memory is ended and replaced.
 * The module `file` exports `run` (thread-tasks.ts).
 */
export function openThreads<Tasks extends ThreadTasks>(
  file: URL,
  { log, metrics }: { log: Log; metrics: Pick<Metrics, 'threadTasks'> },
  given: Partial<ThreadLimits> = {},
): Threads<Tasks> & AsyncDisposable {
  const limits = { ...LIMITS, ...given }
  // Opened by the first task, so that a process without tasks starts no thread.
  let opened: Promise<Piscina> | undefined
  /** deadlines of waiting and running tasks, by the id of the call */
  const deadlines = new Map<number, Deadline>()
  let calls = 0
  const open = async () => {
    const { Piscina } = await import('piscina')
    const pool = new Piscina({
      filename: file.href,
      name: 'run',
      // An ended thread is replaced at once, for the tasks that wait.
      minThreads: 1,
      maxThreads: limits.threads,
      idleTimeout: IDLE_MS,
      niceIncrement: NICE_INCREMENT,
      // Node strips the types itself (no task needs JSX): a thread starts in half the time of one with tsx.
      execArgv: [],
      // A thread needs no settings, so it gets no secrets.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb: limits.memoryMb / 4 },
    })
    pool.on('message', (id: TaskBegun) => deadlines.get(id)?.extend('too slow', limits.taskMs))
    // A thread that ends without a task is replaced.
    pool.on('error', (error: unknown) => log.warn(describeError(error), 'thread.ended'))
    return pool
  }
  async function runBounded(task: string, input: unknown): Promise<unknown> {
    // The pool's own limit does not count tasks that can be aborted.
    if (deadlines.size >= limits.threads + limits.waiting) throw new LimitError('too busy')
    const id = calls++
    const deadline = createDeadline('too busy', limits.waitMs)
    deadlines.set(id, deadline)
    try {
      const call: ThreadCall = { id, task, input }
      opened ??= open()
      return await (await opened).run(call, { signal: deadline.signal })
    } catch (error) {
      const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      const problem = deadline.passed() ?? (isTooLarge ? 'too large' : null)
      throw problem === null ? error : new LimitError(problem, { cause: error })
    } finally {
      deadline.stop()
      deadlines.delete(id)
    }
  }
  return {
    async run(task, input) {
      const end = metrics.threadTasks.startTimer({ task })
      try {
        const output = await runBounded(task, input)
        end({ outcome: 'done' })
        return output as never
      } catch (error) {
        if (!(error instanceof LimitError)) {
          end({ outcome: 'failed' })
          throw error
        }
        const { problem } = error
        end({ outcome: problem })
        log.warn({ task, problem }, 'thread.task-refused')
        throw new UnavailableError(`this took more than the server gives to one request: ${problem}`, {
          cause: error,
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      }
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.destroy()
    },
  }
}

class LimitError extends Error {
  readonly problem: Problem

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem, options)
    this.problem = problem
  }
}

interface Deadline {
  signal: AbortSignal
  extend(problem: Problem, ms: number): void
  passed(): Problem | null
  stop(): void
}

function createDeadline(problem: Problem, ms: number): Deadline {
  const controller = new AbortController()
  let passed: Problem | null = null
  const start = (reason: Problem, afterMs: number) =>
    setTimeout(() => {
      passed = reason
      controller.abort()
    }, afterMs)
  let timer = start(problem, ms)
  return {
    signal: controller.signal,
    extend(reason, afterMs) {
      clearTimeout(timer)
      timer = start(reason, afterMs)
    },
    passed: () => passed,
    stop: () => clearTimeout(timer),
  }
}
