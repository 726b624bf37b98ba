import { connect } from 'node:net'
import { maskOfShards, openGeneration, queuesOf } from '#shared/contracts/ping-generations.ts'
import type { ListenerKind } from '#shared/monitoring/availability/heartbeat-store.ts'
import { storeRefusals } from '#shared/monitoring/availability/proof-store.ts'
import { createRefusals, type Refusals } from '#shared/monitoring/availability/refusals.ts'
import { startProver } from '#shared/monitoring/operations/prover.ts'
import type { IngressDeps } from '../deps.ts'
import { createShardProof } from './shard-proof.ts'

/**
 * Proves every 2 s that this listener accepts pings, and stores the proven intervals
 * (docs/spec/alerting.md#listener-heartbeats).
 */
export interface Listener extends AsyncDisposable {
  refusals: Pick<Refusals, 'known' | 'unresolved'>
  /** @param answers returns true if the listener responds on its own address */
  open(answers: () => Promise<boolean>): void
}

const ANSWERED_WITHIN_MS = 2_000

export function startPingIngress(
  deps: Pick<IngressDeps, 'healthDb' | 'broker' | 'log' | 'installation' | 'now'>,
  kind: ListenerKind,
  everyMs?: number,
): Listener {
  const refusals = createRefusals()
  const takesMessages = createShardProof(deps.broker)
  let prover: AsyncDisposable | undefined

  async function prove(answers: () => Promise<boolean>): Promise<bigint> {
    const [isOpen, shards] = await Promise.all([answers().catch(() => false), provenShards()])
    const isWhole = isOpen && !refusals.takeUnresolved() && deps.installation.problems().length === 0
    return isWhole ? shards : 0n
  }

  async function provenShards(): Promise<bigint> {
    const open = openGeneration(deps.installation.generations(), deps.now())
    return open ? maskOfShards(await Promise.all(queuesOf(open).map(takesMessages))) : 0n
  }

  async function afterStore(): Promise<void> {
    const refused = refusals.waiting()
    await storeRefusals(deps.healthDb, kind, refused, performance.now())
    refusals.stored(refused)
  }

  return {
    refusals,
    open(answers) {
      const rounds = { everyMs, prove: () => prove(answers), afterStore }
      prover = startProver({ db: deps.healthDb, log: deps.log }, kind, rounds)
    },
    async [Symbol.asyncDispose]() {
      await prover?.[Symbol.asyncDispose]()
    },
  }
}

export async function answersHttp(host: string, port: number): Promise<boolean> {
  const response = await fetch(`http://${bracketed(localOf(host))}:${port}/livez`, {
    signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
  })
  await response.body?.cancel()
  return response.ok
}

export async function answersMail(host: string, port: number): Promise<boolean> {
  const socket = connect({ host: localOf(host), port })
  try {
    return await new Promise<boolean>((resolve) => {
      socket.setTimeout(ANSWERED_WITHIN_MS, () => resolve(false))
      socket.once('error', () => resolve(false))
      socket.once('data', (greeting) => resolve(greeting.toString('latin1').startsWith('220')))
    })
  } finally {
    socket.destroy()
  }
}

function localOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
