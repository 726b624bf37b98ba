import { alertsReevaluate } from '#shared/contracts/worker-messages.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import type { Worker } from '../define-worker.ts'
import { handOn, isFull } from './process-flips.ts'

/** Each costs nothing by itself: those that come while the alerter works share one more look. */
const PREFETCH = 100
/** Milliseconds after which the rest is left to the next message, which the sweeper sends within a second. */
const MAX_RUN_MS = 60_000

/**
 * Decides who is told of changes, and when. A message only says that there is something to do: the alerter repeats until
 * nothing is left.
 */
export const alerter: Worker = {
  name: 'alerter',
  sends: true,
  start(deps) {
    const run = sharedRuns(async () => {
      let claimed = 0
      for (const end = performance.now() + MAX_RUN_MS; performance.now() < end; ) {
        // In a flood of changes one half of the work, the database's, goes on while the other half is done here.
        const beside = isFull(claimed) ? handOn(deps, 'changes') : null
        const turns = await Promise.allSettled([handOn(deps), beside])
        for (const turn of turns) if (turn.status === 'rejected') throw turn.reason
        claimed = Math.max(...turns.map((turn) => (turn.status === 'fulfilled' ? (turn.value ?? 0) : 0)))
        if (claimed === 0) return
      }
    })
    return [subscribe('alerter', on(alertsReevaluate, PREFETCH, run), deps)]
  },
}

/** Runs `work` once at a time. Whoever asks while it runs shares one further run that begins afterwards. */
function sharedRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  const start = (): Promise<void> => {
    const run = work().finally(() => {
      if (running === run) running = null
    })
    running = run
    return run
  }
  return () => {
    if (!running) return start()
    next ??= running
      .catch(() => {}) // whoever asked for it hears of it
      .then(() => {
        next = null
        return start()
      })
    return next
  }
}
