import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { CompanyMaster, CompanyQuery, PersonQuery, PersonRecord } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayPost, gatewayReason, readEnvelope } from './gateway.ts'

/** Kinds of links that a source cannot show; an absent list then means that nothing was compared. */
export const NOT_COMPARED = ['DIRECTOR', 'HOLDING', 'ADDRESS', 'BANK_ACCOUNT', 'PHONE', 'EMAIL'] as const

const hash = z.string().regex(/^[0-9a-f]{64}$/)

export const CompanyAnswer = envelope(
  z.object({
    pan: z.string(),
    companyNumber: z.string().nullable(),
    legalName: z.string(),
    status: z.string(),
    directorIds: z.array(z.string()),
    /** shares held in other companies, in hundredths of a percent */
    holdings: z.array(z.object({ pan: z.string(), basisPoints: z.int().min(0).max(10_000) })).default([]),
    /** SHA-256 of normalised values, computed by the gateway, which never sends the values */
    addressHash: hash.nullable().default(null),
    bankAccountHashes: z.array(hash).default([]),
    phoneHashes: z.array(hash).default([]),
    emailHashes: z.array(hash).default([]),
    notCompared: z.array(z.enum(NOT_COMPARED)).optional(),
  }),
)

/** Looks up by PAN. Contact data are hashed. */
export function createCompanyMaster(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<CompanyQuery, CompanyMaster> {
  return createRegistry(
    {
      name: 'company-master',
      connectorVersion: '1.0.0',
      source: 'MCA_MASTER_DATA',
      tier: 'REGISTRY_VERIFIED',
      request: ({ pan, cin }, context) => gatewayGet(config, context, '/companies', { pan, ...(cin ? { cin } : {}) }),
      parse: (body, { pan }) => readEnvelope(CompanyAnswer, body, (data) => (data.pan === pan ? data : undefined)),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}

/** Sent in a body, because it must not appear in access logs. */
export const PersonSearchBody = z.object({ registry: z.enum(['PAN', 'CKYC']), identifier: z.string() })

export const PersonAnswer = envelope(z.object({ registry: z.enum(['PAN', 'CKYC']), status: z.string() }))

/** Names are not sent. */
export function createPersonRecords(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<PersonQuery, PersonRecord> {
  return createRegistry(
    {
      name: 'person-records',
      connectorVersion: '1.0.0',
      source: 'PERSON_REGISTRIES',
      tier: 'REGISTRY_VERIFIED',
      request: (search, context) => gatewayPost(config, context, '/searches/persons', search),
      parse: (body, { registry }) =>
        readEnvelope(PersonAnswer, body, (data) => (data.registry === registry ? data : undefined)),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}
