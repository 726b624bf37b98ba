import { describeError, type Log } from './log.ts'

export interface WatchedProblems extends AsyncDisposable {
  problems(): string[]
  requested(): Promise<void>
  /** Calls back at once and when problems begin or end; a failed check changes nothing. */
  onChange(listener: (isFine: boolean) => void): void
}

/** An exception of `find` means a failed check. `unasked` is the problem before the first result. */
export function watchProblems(watch: {
  find(): Promise<string[]>
  intervalMs: number
  unasked: string
  log: Log
  events: { unanswered: string; found: string }
}): WatchedProblems {
  const { log, events } = watch
  const listeners = new Set<(isFine: boolean) => void>()
  const requested = Promise.withResolvers<void>()
  let problems = [watch.unasked]
  let isClosing = false
  let timer: NodeJS.Timeout | null = null
  let looking = look()

  async function look(): Promise<void> {
    try {
      notify(await watch.find())
    } catch (error) {
      log.debug(describeError(error), events.unanswered)
    }
    requested.resolve()
    if (isClosing) return
    timer = setTimeout(() => {
      looking = look()
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
    requested: () => requested.promise,
    onChange(listener) {
      listeners.add(listener)
      listener(problems.length === 0)
    },
    async [Symbol.asyncDispose]() {
      isClosing = true
      if (timer) clearTimeout(timer)
      await looking
    },
  }
}
