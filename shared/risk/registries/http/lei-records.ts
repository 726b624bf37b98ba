import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { LeiRecord } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { GatewayConfig, gatewayReason } from './gateway.ts'

/** The public register of legal entity identifiers needs no token; a gateway in front of it may. */
export const LeiConfig = GatewayConfig

export type LeiConfig = GatewayConfig

export type LeiQuery = { lei: string } | { registeredAs: string } | { legalName: string }

const record = z.object({
  attributes: z.object({
    lei: z.string(),
    entity: z.object({
      legalName: z.object({ name: z.string() }),
      registeredAt: z.object({ id: z.string().nullish() }).nullish(),
      registeredAs: z.string().nullish(),
      jurisdiction: z.string().nullish(),
      status: z.string(),
    }),
    registration: z.object({ status: z.string(), nextRenewalDate: z.string().nullish() }),
  }),
})

const meta = z.object({ goldenCopy: z.object({ publishDate: z.iso.datetime({ offset: true }) }).nullish() }).nullish()

// JSON:API: one record by its identifier, a page of records by a filter.
const LeiAnswer = z.object({ meta, data: z.union([record, z.array(record)]) })

/** An empty result is NOT_FOUND. */
export function createLeiRecords(
  config: LeiConfig,
  deps: RegistryDeps,
  breakers: Breakers,
  source = 'GLEIF',
): Registry<LeiQuery, LeiRecord[]> {
  return createRegistry(
    {
      name: 'lei-records',
      connectorVersion: '1.0.0',
      source,
      tier: 'REGISTRY_VERIFIED',
      request: (query) => ({
        method: 'GET',
        url: `${config.url.replace(/\/$/, '')}/lei-records${pathOf(query)}`,
        headers: {
          accept: 'application/vnd.api+json',
          ...(config.token ? { authorization: `Bearer ${config.token}` } : {}),
        },
      }),
      parse(body) {
        const parsed = LeiAnswer.safeParse(JSON.parse(body.toString('utf8')))
        if (!parsed.success) return undefined
        const records = [parsed.data.data].flat().map(recordOf)
        const published = parsed.data.meta?.goldenCopy?.publishDate
        const asOf = published ? new Date(published).toISOString() : null
        return records.length === 0 ? { missing: 'NOT_FOUND' } : { data: records, asOf }
      },
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}

function pathOf(query: LeiQuery): string {
  if ('lei' in query) return `/${encodeURIComponent(query.lei)}`
  const filter = 'registeredAs' in query ? 'entity.registeredAs' : 'entity.legalName'
  const value = 'registeredAs' in query ? query.registeredAs : query.legalName
  return `?${new URLSearchParams({ [`filter[${filter}]`]: value, 'page[size]': '10' })}`
}

function recordOf({ attributes: { lei, entity, registration } }: z.output<typeof record>): LeiRecord {
  return {
    lei,
    legalName: entity.legalName.name,
    jurisdiction: entity.jurisdiction ?? null,
    entityStatus: entity.status,
    registrationStatus: registration.status,
    registeredAt: entity.registeredAt?.id ?? null,
    registeredAs: entity.registeredAs ?? null,
    nextRenewalDate: registration.nextRenewalDate ?? null,
  }
}
