import type { BrokerControl } from './broker-admin.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { answeringBroker, answeringPostgres, controlOf } from './wait-until-ready.ts'

/** In the order in which they are tried. */
export const origins = ['environment', 'docker', 'localhost', 'binaries'] as const
export type Origin = (typeof origins)[number]

/** `process` is set if we started the server. */
type FoundService = { origin: Origin; url: string; process?: ProcessIdentity | undefined }
type FoundBroker = FoundService & { control?: BrokerControl | undefined }
export type Services = { postgres: FoundService; broker: FoundBroker }

/** Methods are called only if `unavailable` returned undefined. */
export interface Starter {
  /** @returns undefined if this way is available, otherwise a remedy such as `start a Docker engine` */
  unavailable(service: 'postgres' | 'rabbitmq'): Promise<string | undefined>
  postgres(): Promise<Omit<FoundService, 'origin'>>
  broker(): Promise<Omit<FoundBroker, 'origin'>>
}

export type ResolveOptions = {
  databaseUrl?: string | undefined
  amqpUrl?: string | undefined
  docker: Starter
  binaries: Starter
  /** ways for each service, in order; default all */
  order?: { postgres?: readonly Origin[]; rabbitmq?: readonly Origin[] }
  /** receives one line per tried or skipped way */
  report: (line: string) => void
}

/**
 * Finds PostgreSQL and RabbitMQ, each in the first way that works: environment, Docker engine, localhost's standard
 * port, local binaries. Tests use it too, with other containers.
 * @throws Error with one line that states the remedy
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
    const remedy = await starter?.unavailable(service)
    if (remedy !== undefined) {
      reasons.push(remedy)
      continue
    }
    try {
      const found = await ways[origin]()
      if (found) return { ...found, origin }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      reasons.push(reason)
      report(`${service} from ${origin} failed: ${reason}`)
    }
  }
  const name = service === 'postgres' ? 'PostgreSQL' : 'RabbitMQ'
  const setting = service === 'postgres' ? 'DATABASE_URL' : 'AMQP_URL'
  throw new Error(`${name} was not found: set ${setting}, or start Docker, or ${reasons.at(-1) ?? 'install it'}`)
}
