import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Says why a stack is not ready yet; undefined when it is. */
export type Readiness = () => Promise<string | undefined>

/**
 * The readiness of an HTTP process by its own account.
 * @returns the body of its answer while it is not ready, which names the reasons
 */
export function httpReady(address: string): Readiness {
  return async () => {
    try {
      const response = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(5_000) })
      return response.status === 200 ? undefined : (await response.text()).slice(0, 500)
    } catch {
      return 'it does not answer yet'
    }
  }
}

/** Whether something accepts connections on a port of this machine. */
export function portOpen(port: number): Readiness {
  return () =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      const answer = (reason: string | undefined) => {
        socket.destroy()
        resolve(reason)
      }
      socket.setTimeout(2_000, () => answer('it does not answer yet'))
      socket.once('connect', () => answer(undefined))
      socket.once('error', () => answer('it does not answer yet'))
    })
}

/**
 * Waits until everything is ready.
 * @param died says which process ended meanwhile: then waiting is pointless
 * @throws NotReady with the name of the process to look at
 */
export async function untilReady(
  all: Readonly<Record<string, Readiness>>,
  died: () => Promise<string | undefined>,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (const [name, readiness] of Object.entries(all)) {
    for (;;) {
      const dead = await died()
      if (dead) throw new NotReady(dead, 'it ended')
      const reason = await readiness()
      if (reason === undefined) break
      if (performance.now() > deadline) throw new NotReady(name, reason)
      await sleep(200)
    }
  }
}

/** A process that is not ready in time, or ended. */
export class NotReady extends Error {
  readonly process: string
  constructor(process: string, reason: string) {
    super(`${process} is not ready: ${reason}`)
    this.process = process
  }
}
