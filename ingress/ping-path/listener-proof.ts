import { get } from 'node:http'
import { connect } from 'node:net'
import { maskOfShards, openGeneration, queuesOf } from '#shared/contracts/ping-generations.ts'
import type { ListenerKind } from '#shared/monitoring/availability/heartbeat-store.ts'
import { storeRefusals } from '#shared/monitoring/availability/proof-store.ts'
import { createRefusals, type Refusals } from '#shared/monitoring/availability/refusals.ts'
import { startProver } from '#shared/monitoring/operations/prover.ts'
import type { IngressDeps } from '../deps.ts'
import { shardProofOf } from './shard-proof.ts'

export interface ListenerProof extends AsyncDisposable {
  /** counts pings that this listener refuses for internal reasons */
  refusals: Pick<Refusals, 'count' | 'countUnresolved'>
  /**
   * Starts the rounds after the listener is bound.
   * @param isListening sends a request to the listener's own port and returns true if it responds
   */
  start(isListening: () => Promise<boolean>): void
}

const RESPONSE_TIMEOUT_MS = 2_000

/**
 * Proves every 2 s that a listener accepts pings and that the ping queues accept messages, and stores the proven
 * intervals and the refused pings (docs/spec/alerting.md#listener-heartbeats). Closing it ends the last interval.
 * @param intervalMs tests prove more often
 */
export function createListenerProof(
  deps: Pick<IngressDeps, 'reserveDb' | 'broker' | 'log' | 'installation' | 'now'>,
  kind: ListenerKind,
  intervalMs?: number,
): ListenerProof {
  const refusals = createRefusals()
  const acceptsMessages = shardProofOf(deps.broker)
  let prover: AsyncDisposable | undefined

  async function prove(isListening: () => Promise<boolean>): Promise<bigint> {
    const [responds, shards] = await Promise.all([isListening().catch(() => false), provenShards()])
    const isProven = responds && !refusals.takeUnresolved() && deps.installation.problems().length === 0
    return isProven ? shards : 0n
  }

  async function provenShards(): Promise<bigint> {
    const open = openGeneration(deps.installation.generations(), deps.now())
    return open ? maskOfShards(await Promise.all(queuesOf(open).map(acceptsMessages))) : 0n
  }

  async function afterStore(): Promise<void> {
    const refused = refusals.waiting()
    await storeRefusals(deps.reserveDb, kind, refused, performance.now())
    refusals.stored(refused)
  }

  return {
    refusals,
    start(isListening) {
      const rounds = { intervalMs, prove: () => prove(isListening), afterStore }
      prover = startProver({ db: deps.reserveDb, log: deps.log }, kind, rounds)
    },
    async [Symbol.asyncDispose]() {
      await prover?.[Symbol.asyncDispose]()
    },
  }
}

/** Uses a plain request: with `fetch`, the rounds are a noticeable share of the CPU time of an idle process. */
export async function isHttpListening(host: string, port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const request = get({ host: loopbackOf(host), port, path: '/livez', timeout: RESPONSE_TIMEOUT_MS }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('timeout', () => request.destroy(new Error('the listener did not respond')))
    request.once('error', () => resolve(false))
  })
}

export async function isSmtpListening(host: string, port: number): Promise<boolean> {
  const socket = connect({ host: loopbackOf(host), port })
  try {
    return await new Promise<boolean>((resolve) => {
      socket.setTimeout(RESPONSE_TIMEOUT_MS, () => resolve(false))
      socket.once('error', () => resolve(false))
      socket.once('data', (greeting) => resolve(greeting.toString('latin1').startsWith('220')))
    })
  } finally {
    socket.destroy()
  }
}

/** Replaces a wildcard address by the loopback address of its family. */
function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
