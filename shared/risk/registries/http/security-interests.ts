import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { SecuritySearch, SecuritySearchType } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayPost, gatewayReason, readEnvelope, rupees } from './gateway.ts'

export const SecuritySearchBody = z.strictObject({
  searchType: z.enum(['SI', 'ASSET', 'DEBTOR', 'AOR']),
  debtorPan: z.string(),
})

export const SecuritySearchAnswer = envelope(
  z.object({
    searchType: z.enum(['SI', 'ASSET', 'DEBTOR', 'AOR']),
    searchedAt: z.iso.datetime({ offset: true }),
    interests: z.array(
      z.object({
        securityInterestId: z.string().regex(/^[0-9]{12}$/),
        assetCategory: z.string(),
        coversReceivables: z.boolean(),
        createdOn: z.iso.date(),
        securedAmount: rupees.nullable(),
        /** a kind of holder, never a name */
        chargeHolderType: z.string(),
        active: z.boolean(),
      }),
    ),
  }),
)

/** An empty list is a valid response. */
export function createSecurityInterests(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
  source = 'CERSAI',
): Registry<{ pan: string; searchType: SecuritySearchType }, SecuritySearch> {
  return createRegistry(
    {
      name: 'security-interests',
      connectorVersion: '1.0.0',
      source,
      tier: 'REGISTRY_VERIFIED',
      request: ({ pan, searchType }, context) =>
        gatewayPost(config, context, '/searches/security-interests', { searchType, debtorPan: pan }),
      parse: (body) =>
        readEnvelope(SecuritySearchAnswer, body, ({ searchType, searchedAt, interests }) => ({
          searchType,
          searchedAt: new Date(searchedAt).toISOString(),
          interests: interests.map(({ securedAmount, ...interest }) => ({
            ...interest,
            securedAmountPaise: securedAmount,
          })),
        })),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}
