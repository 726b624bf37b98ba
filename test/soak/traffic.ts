import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ledger, pingOnce } from '../faults/ledger.ts'

/** Interval of pings at each listener, which does not wait for responses. */
const EVERY_MS = 25
/** Maximum number of unanswered pings at a listener. */
const MAX_IN_FLIGHT = 500
/** Timeout of a client, after which the result of its ping is unknown. */
const TIMEOUT_MS = 10_000

/** Results since the last read. */
interface TrafficWindow {
  ledger: Ledger
  /** longest time without an accepted ping, in ms */
  gapMs: number
  /** the same for each listener */
  gapsMs: readonly number[]
}

/** Constant load of pings through several listeners, as from many independent clients. */
export interface Traffic extends AsyncDisposable {
  /** all pings that were sent */
  total: Ledger
  /** returns the number of pings that a listener has accepted */
  accepted(listener: number): number
  /** Repeats a ping of a scenario until a listener accepts it. @param suffix for example `/fail` */
  untilAccepted(check: string, suffix?: string): Promise<void>
  /** Begins a new window. @returns the ended window; pending requests belong to the next */
  take(): TrafficWindow
}

/** @param bases of the listeners @param checks uuids, pinged through each of them alternately */
export function startTraffic(bases: readonly string[], checks: readonly string[]): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_IN_FLIGHT })
  const total = new Ledger()
  const inFlight = bases.map(() => new Set<Promise<unknown>>())
  const acceptedBy = bases.map(() => 0)
  const since = performance.now()
  let lastAt = since
  let window = newWindow(bases.length)
  const lastOf = bases.map(() => since)

  const note = (listener: number) => {
    const now = performance.now()
    acceptedBy[listener] = (acceptedBy[listener] ?? 0) + 1
    window.gapMs = Math.max(window.gapMs, now - lastAt)
    window.gapsMs[listener] = Math.max(window.gapsMs[listener] ?? 0, now - (lastOf[listener] ?? 0))
    lastAt = now
    lastOf[listener] = now
  }
  const send = async (listener: number, check: string, suffix = '') => {
    const rid = randomUUID()
    const answer = await pingOnce(agent, `${bases[listener]}/ping/${check}${suffix}?rid=${rid}`, TIMEOUT_MS)
    for (const ledger of [total, window.ledger]) ledger.record(rid, check, answer)
    if (answer === 200) note(listener)
    return answer === 200
  }
  let next = 0
  const timer = setInterval(() => {
    const check = checks[next++ % checks.length] ?? ''
    for (const [listener, pending] of inFlight.entries()) {
      if (pending.size >= MAX_IN_FLIGHT) continue
      const sent: Promise<unknown> = send(listener, check).finally(() => pending.delete(sent))
      pending.add(sent)
    }
  }, EVERY_MS)

  return {
    total,
    accepted: (listener) => acceptedBy[listener] ?? 0,
    async untilAccepted(check, suffix) {
      for (let attempt = 0; !(await send(attempt % bases.length, check, suffix)); attempt++) await sleep(200)
    },
    take() {
      const now = performance.now()
      const ended = window
      ended.gapMs = Math.max(ended.gapMs, now - lastAt)
      ended.gapsMs = ended.gapsMs.map((gap, listener) => Math.max(gap, now - (lastOf[listener] ?? now)))
      window = newWindow(bases.length)
      return ended
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await Promise.all(inFlight.flatMap((pending) => [...pending]))
      agent.destroy()
    },
  }
}

function newWindow(listeners: number): TrafficWindow & { gapsMs: number[] } {
  return { ledger: new Ledger(), gapMs: 0, gapsMs: Array.from({ length: listeners }, () => 0) }
}
