import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import type { Product, SpawnedProcess } from '../support/product.ts'

/** Workers of each kind of process. */
const KINDS = {
  listener: [],
  evaluator: ['ping-evaluator'],
  alerts: ['sweeper', 'alerter', 'notifier'],
  evidence: ['pack-composer', 'webhook-deliverer', 'anchor', 'mailer'],
} as const

export type Kind = keyof typeof KINDS

/** A process of the product that faults can stop and restart. */
export interface ManagedProcess {
  kind: Kind
  name: string
  /** URL of a listener */
  base: string
  /** `kill -9` */
  kill(): Promise<void>
  /** SIGTERM. @returns its exit code */
  stop(): Promise<number | null>
  /** @param env additional settings for this start */
  start(env?: Record<string, string>): Promise<void>
  freeze(isOn: boolean): void
  /** Returns the reason why the process is not ready; null if it is. */
  unreadyReason(): Promise<string | null>
  /** Returns the output of all starts. */
  output(): string
}

/** Starts `copies` processes of each kind, and waits until all are ready. */
export async function startProcesses(
  product: Product,
  resources: AsyncDisposableStack,
  copies: number,
): Promise<ManagedProcess[]> {
  const kinds = Object.keys(KINDS).filter((kind): kind is Kind => Object.hasOwn(KINDS, kind))
  const all: ManagedProcess[] = []
  for (const kind of kinds) {
    for (let copy = 1; copy <= copies; copy++) {
      const folder = mkdtempSync(join(tmpdir(), 'signalbox-soak-'))
      resources.defer(() => rmSync(folder, { recursive: true, force: true }))
      all.push(
        manageProcess(product, kind, `${kind} ${copy}`, { folder, port: await freePort(), metrics: await freePort() }),
      )
    }
  }
  await Promise.all(all.map((one) => one.start()))
  await allReady(all, 120_000)
  return all
}

/** Waits until all processes are ready. @throws Error with the reason of one that is not */
export async function allReady(processes: readonly ManagedProcess[], withinMs: number): Promise<void> {
  for (const one of processes) {
    let unreadyReason: string | null = null
    const isReady = async () => {
      unreadyReason = await one.unreadyReason()
      return unreadyReason === null
    }
    await eventually(`${one.name} to be ready`, isReady, withinMs).catch((error: unknown) => {
      throw new Error(`${String(error)}, with the reason: ${unreadyReason}`)
    })
  }
}

function manageProcess(
  product: Product,
  kind: Kind,
  name: string,
  ports: { folder: string; port: number; metrics: number },
): ManagedProcess {
  const settings = { PORT: String(ports.port), METRICS_PORT: String(ports.metrics), CHECKPOINT_DIR: ports.folder }
  const runs: SpawnedProcess[] = []
  const current = () => {
    const last = runs.at(-1)
    if (!last) throw new Error(`${name} was never started`)
    return last
  }
  return {
    kind,
    name,
    base: `http://127.0.0.1:${ports.port}`,
    async kill() {
      current().signal('SIGKILL')
      await current().exited
    },
    stop: () => current().stop(),
    async start(env = {}) {
      const what = kind === 'listener' ? 'ingress' : 'workers'
      runs.push(product.spawn(what, KINDS[kind], { ...settings, ...env }))
    },
    freeze: (isOn) => current().signal(isOn ? 'SIGSTOP' : 'SIGCONT'),
    async unreadyReason() {
      const signal = AbortSignal.timeout(2_000)
      try {
        const answer = await fetch(`http://127.0.0.1:${ports.metrics}/readyz`, { signal })
        return answer.status === 200 ? null : await answer.text()
      } catch (error) {
        return String(error)
      }
    },
    output: () => runs.map((run) => run.output()).join('\n'),
  }
}
