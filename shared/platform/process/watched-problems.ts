import { describeError, type Log } from './log.ts'

/** What keeps this process from its work, looked for again and again. */
export interface WatchedProblems extends AsyncDisposable {
  /** What the last look that had an answer found; empty when nothing is in the way. */
  problems(): string[]
  /** Resolves once it was looked for the first time, whatever the answer. */
  requested(): Promise<void>
  /** Calls at once and whenever problems begin or end; a look without an answer changes nothing. */
  onChange(listener: (isFine: boolean) => void): void
}

/**
 * Begins to look at once, and goes on until it is closed.
 * @param watch.find looks once; what it throws is a look without an answer
 * @param watch.unasked the problem before the first answer
 * @param watch.events names of the log's lines: for a look without an answer, and for problems that were found
 */
export function watchProblems(watch: {
  find(): Promise<string[]>
  everyMs: number
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
    }, watch.everyMs)
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
