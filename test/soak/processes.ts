import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../stack/free-port.ts'
import { eventually } from '../support/eventually.ts'
import type { Product, SpawnedProcess } from '../support/product.ts'

/** What runs together in one process. */
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
  /** Whether it says that it can work. */
  isReady(): Promise<boolean>
  /** What it has written at all. */
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
  for (const one of all) await eventually(`${one.name} to be ready`, one.isReady, 120_000)
  return all
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
    async isReady() {
      const signal = AbortSignal.timeout(2_000)
      const answer = await fetch(`http://127.0.0.1:${place.metrics}/readyz`, { signal }).catch(() => null)
      return answer?.status === 200
    },
    output: () => lives.map((life) => life.output()).join('\n'),
  }
}
