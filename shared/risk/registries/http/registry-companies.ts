import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { RegistryCompany, RegistryCompanyQuery } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { NOT_COMPARED } from './companies.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope } from './gateway.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** A company of a register outside India, by the GLEIF code of the register. */
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

/** Queries the register outside India that the record of a legal entity identifier names. */
export function createRegistryCompanies(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
  source = 'REGISTRY_COMPANIES',
): Registry<RegistryCompanyQuery, RegistryCompany> {
  return createRegistry(
    {
      name: 'registry-companies',
      connectorVersion: '1.0.0',
      source,
      tier: 'REGISTRY_VERIFIED',
      request: ({ authority, number }, context) =>
        gatewayGet(
          config,
          context,
          `/registry-companies/${encodeURIComponent(authority)}/${encodeURIComponent(number)}`,
        ),
      parse: (body, { authority, number }) =>
        readEnvelope(RegistryCompanyAnswer, body, ({ addressHash: _address, notCompared: _links, ...data }) =>
          data.authority === authority && data.companyNumber.toUpperCase() === number.toUpperCase() ? data : undefined,
        ),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}
