import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import type { Product, SpawnedProcess } from '../support/product.ts'

/** The parts that run together in one process. */
const KINDS = {
  listener: [],
  evaluator: ['ping-evaluator'],
  alerts: ['sweeper', 'alerter', 'notifier'],
  evidence: ['pack-composer', 'webhook-deliverer', 'anchor', 'mailer'],
} as const

export type Kind = keyof typeof KINDS

/** A process of the product that is started again when it was ended. */
export interface Kept {
  kind: Kind
  name: string
  /** of a listener, where it listens */
  base: string
  /** `kill -9` */
  kill(): Promise<void>
  /** SIGTERM. @returns its exit code */
  stop(): Promise<number | null>
  /** @param env settings that differ this time */
  start(env?: Record<string, string>): Promise<void>
  freeze(isOn: boolean): void
  /** Returns the reason why it cannot work; null if it can. */
  complaint(): Promise<string | null>
  /** Returns its whole output. */
  output(): string
}

/** Starts so many processes of each kind, and waits until all can work. */
export async function startProcesses(
  product: Product,
  resources: AsyncDisposableStack,
  copies: number,
): Promise<Kept[]> {
  const kinds = Object.keys(KINDS).filter((kind): kind is Kind => Object.hasOwn(KINDS, kind))
  const all: Kept[] = []
  for (const kind of kinds) {
    for (let copy = 1; copy <= copies; copy++) {
      const folder = mkdtempSync(join(tmpdir(), 'signalbox-soak-'))
      resources.defer(() => rmSync(folder, { recursive: true, force: true }))
      all.push(keep(product, kind, `${kind} ${copy}`, { folder, port: await freePort(), metrics: await freePort() }))
    }
  }
  await Promise.all(all.map((one) => one.start()))
  await allReady(all, 120_000)
  return all
}

/** Waits until each reports that it can work. @throws Error with the reason of a process that cannot */
export async function allReady(processes: readonly Kept[], withinMs: number): Promise<void> {
  for (const one of processes) {
    let complaint: string | null = null
    const isReady = async () => {
      complaint = await one.complaint()
      return complaint === null
    }
    await eventually(`${one.name} to be ready`, isReady, withinMs).catch((error: unknown) => {
      throw new Error(`${String(error)}, with the reason: ${complaint}`)
    })
  }
}

function keep(
  product: Product,
  kind: Kind,
  name: string,
  place: { folder: string; port: number; metrics: number },
): Kept {
  const settings = { PORT: String(place.port), METRICS_PORT: String(place.metrics), CHECKPOINT_DIR: place.folder }
  const lives: SpawnedProcess[] = []
  const living = () => {
    const last = lives.at(-1)
    if (!last) throw new Error(`${name} was never started`)
    return last
  }
  return {
    kind,
    name,
    base: `http://127.0.0.1:${place.port}`,
    async kill() {
      living().signal('SIGKILL')
      await living().exited
    },
    stop: () => living().stop(),
    async start(env = {}) {
      const what = kind === 'listener' ? 'ingress' : 'workers'
      lives.push(product.spawn(what, KINDS[kind], { ...settings, ...env }))
    },
    freeze: (isOn) => living().signal(isOn ? 'SIGSTOP' : 'SIGCONT'),
    async complaint() {
      const signal = AbortSignal.timeout(2_000)
      try {
        const answer = await fetch(`http://127.0.0.1:${place.metrics}/readyz`, { signal })
        return answer.status === 200 ? null : await answer.text()
      } catch (error) {
        return String(error)
      }
    },
    output: () => lives.map((life) => life.output()).join('\n'),
  }
}
