import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { CompanyGroup } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope } from './gateway.ts'

const parent = z.object({
  lei: z.string(),
  registeredAt: z.string().nullable(),
  registeredAs: z.string().nullable(),
  jurisdiction: z.string().nullable(),
  relationshipStatus: z.string(),
  corroborationLevel: z.string().nullable(),
})

/** Accounting parents of a company. A parent is no share of capital. */
export const GroupAnswer = envelope(
  z.object({
    cin: z.string(),
    lei: z.string(),
    directParent: parent.nullable(),
    directParentException: z.string().nullable(),
    ultimateParent: parent.nullable(),
    ultimateParentException: z.string().nullable(),
  }),
)

/** Creates the connector for accounting parents of a company, as the register of legal entity identifiers has them. */
export function createGroups(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<{ cin: string }, CompanyGroup> {
  return createRegistry(
    {
      name: 'groups',
      connectorVersion: '1.0.0',
      source: 'GLEIF_PARENTS',
      tier: 'REGISTRY_VERIFIED',
      request: ({ cin }, context) => gatewayGet(config, context, '/groups', { cin }),
      parse: (body, { cin }) =>
        readEnvelope(GroupAnswer, body, ({ lei, directParent, ultimateParent, ...data }) =>
          data.cin.toUpperCase() === cin.toUpperCase()
            ? { lei, directParentLei: directParent?.lei ?? null, ultimateParentLei: ultimateParent?.lei ?? null }
            : undefined,
        ),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}
