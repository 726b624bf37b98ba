import { describeError, type Log } from './log.ts'

export interface WatchedProblems extends AsyncDisposable {
  problems(): string[]
  /** resolves after the first check, also if it failed */
  firstCheck(): Promise<void>
  /** Calls back at once and when problems begin or end; a failed check changes nothing. */
  onChange(listener: (isFine: boolean) => void): void
}

/**
 * Repeats a check for problems. If `find` throws, the earlier result remains.
 * @param watch `initial` is the problem before the first result
 */
export function watchProblems(watch: {
  find(): Promise<string[]>
  intervalMs: number
  initial: string
  log: Log
  events: { failed: string; found: string }
}): WatchedProblems {
  const { log, events } = watch
  const listeners = new Set<(isFine: boolean) => void>()
  const checkedOnce = Promise.withResolvers<void>()
  let problems = [watch.initial]
  let isClosing = false
  let timer: NodeJS.Timeout | null = null
  let checking = check()

  async function check(): Promise<void> {
    try {
      notify(await watch.find())
    } catch (error) {
      log.debug(describeError(error), events.failed)
    }
    checkedOnce.resolve()
    if (isClosing) return
    timer = setTimeout(() => {
      checking = check()
    }, watch.intervalMs)
    timer.unref()
  }

  function notify(found: string[]): void {
    const hasChanged = (found.length === 0) !== (problems.length === 0)
    if (found.length > 0 && found.join() !== problems.join()) log.error({ problems: found }, events.found)
    problems = found
    if (hasChanged) for (const listener of listeners) listener(found.length === 0)
  }

  return {
    problems: () => problems,
    firstCheck: () => checkedOnce.promise,
    onChange(listener) {
      listeners.add(listener)
      listener(problems.length === 0)
    },
    async [Symbol.asyncDispose]() {
      isClosing = true
      if (timer) clearTimeout(timer)
      await checking
    },
  }
}
