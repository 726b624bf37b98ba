import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { UnavailableError } from '#shared/errors.ts'
import { momentNow, msToNextRound } from '#shared/monitoring/availability/attestation.ts'
import {
  arrivalNow,
  type Cover,
  type ListenerKind,
  signOff,
  storeHeartbeat,
} from '#shared/monitoring/availability/heartbeat-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { Micros } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'

/** Stores up to which time a listener has settled its pings (docs/adr/0005). Closing it removes the listener. */
export interface Heartbeat extends AsyncDisposable {
  /**
   * Resolves after the first heartbeat is stored: before that the sweep does not know this listener.
   * @throws UnavailableError if the database does not store it in time
   */
  begun(): Promise<void>
}

const EVERY_MS = 1_000

/** @param oldest returns the arrival of the oldest unanswered ping; null if there is none */
export function startHeartbeat(
  deps: Pick<IngressDeps, 'clock' | 'now' | 'reserveDb' | 'config' | 'log' | 'metrics'>,
  kind: ListenerKind,
  parts: { cover: Cover; oldest: () => Micros | null },
): Heartbeat {
  const { log } = deps
  const instance = randomUUID()
  const closing = new AbortController()
  const first = Promise.withResolvers<void>()
  let hasBegun = false
  const openedAt = performance.now()
  deps.metrics.heartbeatAge.read((gauge) =>
    gauge.set({ kind }, (performance.now() - (parts.cover.lastHeartbeat() ?? openedAt)) / 1000),
  )

  async function heartbeatOn(): Promise<void> {
    await Promise.race([deps.clock.isSet(), aborted(closing.signal)])
    const from = deps.now()
    while (!closing.signal.aborted) {
      const began = momentNow()
      await heartbeatOnce(from).catch((error: unknown) => log.warn(describeError(error), 'heartbeat.not-stored'))
      await wait(msToNextRound(EVERY_MS, began), undefined, { ref: false, signal: closing.signal }).catch(() => {})
    }
  }

  async function heartbeatOnce(from: Micros): Promise<void> {
    // Pings that arrive later have a later time, because the clock never runs backwards.
    const now = deps.now()
    const settledUntil = parts.oldest() ?? now
    const sentAt = performance.now()
    const settlesWithinMs = deps.config.publishTimeoutMs
    const settledAge = now - settledUntil
    await storeHeartbeat(deps.reserveDb, { instance, kind, from, settledUntil, settledAge, settlesWithinMs })
    parts.cover.extend(sentAt, arrivalNow())
    hasBegun = true
    first.resolve()
  }

  const running = heartbeatOn()
  return {
    async begun() {
      if (hasBegun) return
      const late = wait(deps.config.databaseTimeoutMs, 'late' as const, { ref: false })
      const outcome = await Promise.race([first.promise, late])
      if (outcome === 'late') throw new UnavailableError('the first heartbeat of this listener is not stored yet')
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await running
      if (!hasBegun) return
      await signOff(deps.reserveDb, instance).catch((error: unknown) =>
        log.warn(describeError(error), 'heartbeat.not-ended'),
      )
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
