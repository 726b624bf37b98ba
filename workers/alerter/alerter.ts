import { alertsReevaluate } from '#shared/contracts/worker-messages.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import type { Worker } from '../define-worker.ts'
import { isFull, processFlips } from './process-flips.ts'

/** All messages that arrive during a run share the next one. */
const PREFETCH = 100
/** After this time the next message of the sweeper continues, within a second. */
const MAX_RUN_MS = 60_000

/** A message only starts a run, which repeats until no flip or due incident is left. */
export const alerter: Worker = {
  name: 'alerter',
  sends: true,
  start(deps) {
    const run = sharedRuns(async () => {
      let claimed = 0
      for (const end = performance.now() + MAX_RUN_MS; performance.now() < end; ) {
        // In a flood of flips, two concurrent pages keep both the database and this process busy.
        const second = isFull(claimed) ? processFlips(deps, 'changes') : null
        const pages = await Promise.allSettled([processFlips(deps), second])
        for (const page of pages) if (page.status === 'rejected') throw page.reason
        claimed = Math.max(...pages.map((page) => (page.status === 'fulfilled' ? (page.value ?? 0) : 0)))
        if (claimed === 0) return
      }
    })
    return [subscribe('alerter', on(alertsReevaluate, PREFETCH, run), deps)]
  },
}

/** All calls during a run share one further run. */
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
      .catch(() => {})
      .then(() => {
        next = null
        return start()
      })
    return next
  }
}
