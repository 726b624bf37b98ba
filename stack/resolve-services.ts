import type { BrokerControl } from './broker-admin.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { answeringBroker, answeringPostgres, controlOf } from './wait-until-ready.ts'

/** The origins of a service, in the order in which they are tried. */
export const origins = ['environment', 'docker', 'localhost', 'binaries'] as const
export type Origin = (typeof origins)[number]

/** A service that accepts our login. `process` is set if we started the server from local binaries. */
type FoundService = { origin: Origin; url: string; process?: ProcessIdentity | undefined }
type FoundBroker = FoundService & { control?: BrokerControl | undefined }
export type Services = { postgres: FoundService; broker: FoundBroker }

/** Starts the two services in one way; methods are called only if `isAvailable` returns true. */
export interface Starter {
  /** Returns the reason why this way is not available; undefined if it is. */
  unavailable(service: 'postgres' | 'rabbitmq'): Promise<string | undefined>
  postgres(): Promise<Omit<FoundService, 'origin'>>
  broker(): Promise<Omit<FoundBroker, 'origin'>>
}

export type ResolveOptions = {
  databaseUrl?: string | undefined
  amqpUrl?: string | undefined
  docker: Starter
  binaries: Starter
  /** the ways to try for each service, in order; default all of them */
  order?: { postgres?: readonly Origin[]; rabbitmq?: readonly Origin[] }
  /** receives one line for each way that is tried or skipped, with the reason */
  report: (line: string) => void
}

/**
 * Finds PostgreSQL and RabbitMQ, each in the first of four ways that works: named in the environment, a Docker engine,
 * a server on localhost's standard port, local binaries. `make up` and the tests both use it; they only start
 * containers differently.
 * @throws Error with one clear line on what to install or to set
 */
export async function resolveServices(options: ResolveOptions): Promise<Services> {
  const postgres = await firstOf<FoundService>('postgres', options, {
    environment: async () => (options.databaseUrl ? { url: options.databaseUrl } : undefined),
    docker: () => options.docker.postgres(),
    localhost: async () => {
      const url = await answeringPostgres()
      return url === undefined ? undefined : { url }
    },
    binaries: () => options.binaries.postgres(),
  })
  const broker = await firstOf<FoundBroker>('rabbitmq', options, {
    environment: async () =>
      options.amqpUrl ? { url: options.amqpUrl, control: await controlOf(options.amqpUrl) } : undefined,
    docker: () => options.docker.broker(),
    localhost: answeringBroker,
    binaries: () => options.binaries.broker(),
  })
  return { postgres, broker }
}

async function firstOf<Found extends { origin: Origin }>(
  service: 'postgres' | 'rabbitmq',
  { order, docker, binaries, report }: ResolveOptions,
  ways: Record<Origin, () => Promise<Omit<Found, 'origin'> | undefined>>,
): Promise<Omit<Found, 'origin'> & { origin: Origin }> {
  const reasons: string[] = []
  for (const origin of order?.[service] ?? origins) {
    const starter = { docker, binaries, environment: undefined, localhost: undefined }[origin]
    const closed = await starter?.unavailable(service)
    if (closed !== undefined) {
      reasons.push(closed)
      continue
    }
    try {
      const found = await ways[origin]()
      if (found) return { ...found, origin }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      reasons.push(reason)
      report(`${service} could not be had from ${origin}: ${reason}`)
    }
  }
  const name = service === 'postgres' ? 'PostgreSQL' : 'RabbitMQ'
  const setting = service === 'postgres' ? 'DATABASE_URL' : 'AMQP_URL'
  throw new Error(
    `${name} is nowhere to be found: set ${setting}, or start Docker, or ${reasons.at(-1) ?? 'install it'}`,
  )
}
