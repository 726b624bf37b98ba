import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from './config.ts'
import { describeError, type Log } from './log.ts'

/**
 * Longest time from the signal to the end of a process. compose.yaml gives it five seconds more before it is killed.
 */
export const SHUTDOWN_SECONDS = 25
/** Of it, time for a load balancer to see that the process is not ready any more, and to send its requests elsewhere. */
const DRAIN_MS = 3_000

/**
 * The life of a process: `open` puts everything it opens on the stack and returns when it serves; a signal closes the
 * stack in reverse order. A second signal, or a shutdown that takes too long, ends the process with a failure.
 * @param open returns, for a process that others send requests to, how to tell them that it is about to stop
 */
export async function runProcess(
  log: Log,
  open: (resources: AsyncDisposableStack) => Promise<(() => void) | undefined>,
): Promise<void> {
  // What nobody caught means that this process no longer knows its own state: it says so and lets itself be restarted.
  process.on('uncaughtException', (error) => {
    log.fatal(describeError(error), 'process.failed')
    process.exit(1)
  })
  const stop = stopSignal()
  const resources = new AsyncDisposableStack()
  try {
    const drain = await open(resources)
    log.info('process.ready')
    const signal = await stop
    log.info({ signal }, 'process.stopping')
    forceOnSecondSignal()
    endInTime(log)
    if (drain) {
      drain()
      await sleep(DRAIN_MS)
    }
  } catch (error) {
    log.fatal(describeError(error), 'process.not-started')
    process.exitCode = 1
    forceOnSecondSignal()
    endInTime(log)
  }
  await resources.disposeAsync()
  log.info('process.stopped')
}

/** Keeps nothing alive by itself: a process that has finished ends at once. */
function endInTime(log: Log): void {
  const timer = setTimeout(() => {
    log.fatal('process.shutdown-too-slow')
    process.exit(1)
  }, SHUTDOWN_SECONDS * 1000)
  timer.unref()
}

/** Prints settings that cannot be used, one problem a line, and ends the process; anything else goes on upwards. */
export function explainConfigError(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(2)
}

function forceOnSecondSignal(): void {
  process.once('SIGTERM', () => process.exit(1))
  process.once('SIGINT', () => process.exit(1))
}

function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve('SIGTERM'))
    process.once('SIGINT', () => resolve('SIGINT'))
  })
}
