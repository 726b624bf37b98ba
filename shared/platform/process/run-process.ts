import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from './config.ts'
import { describeError, type Log } from './log.ts'

/** compose.yaml gives it five seconds more before it is killed. */
export const SHUTDOWN_SECONDS = 25
/**
 * Part of it in which a load balancer notices that the process is not ready and sends requests elsewhere. SIGINT, of a
 * person or of `make down`, skips it.
 */
const DRAIN_MS = 3_000

/**
 * A signal closes the stack in reverse order. A second signal, or a shutdown that takes too long, ends with a
 * failure. `open` may return a function that announces the stop.
 */
export async function runProcess(
  log: Log,
  open: (resources: AsyncDisposableStack) => Promise<(() => void) | undefined>,
): Promise<void> {
  // After an uncaught error the state of the process is unknown: it logs the error and exits, to be restarted.
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
      if (signal === 'SIGTERM') await sleep(DRAIN_MS)
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

/** The timer does not keep the process alive. */
function endInTime(log: Log): void {
  const timer = setTimeout(() => {
    log.fatal('process.shutdown-too-slow')
    process.exit(1)
  }, SHUTDOWN_SECONDS * 1000)
  timer.unref()
}

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
