import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { CompanyGroup } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { NOT_COMPARED } from './companies.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope } from './gateway.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
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

/** A company of a register outside India, by the GLEIF code of the register. No connector queries it yet. */
export const RegistryCompanyAnswer = envelope(
  z.object({
    authority: z.string().regex(/^RA[0-9]{6}$/),
    companyNumber: z.string().min(1),
    legalName: z.string().min(1),
    status: z.string().min(1),
    directorIds: z.array(z.string()),
    heldBy: z
      .array(
        z.object({
          authority: z.string().nullable(),
          companyNumber: z.string().nullable(),
          minBasisPoints: z.int().min(0).max(10_000),
        }),
      )
      .nullable(),
    addressHash: hash.nullable(),
    notCompared: z.array(z.enum(NOT_COMPARED)),
  }),
)
