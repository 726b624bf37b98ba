import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { ProvidentFund } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayGet, gatewayReason, readEnvelope } from './gateway.ts'

export const ProvidentFundAnswer = envelope(
  z.object({
    pan: z.string(),
    establishmentId: z.string(),
    wageMonth: z.string().regex(/^[0-9]{4}-(0[1-9]|1[0-2])$/),
    /** Members with a contribution in that wage month. */
    activeMembers: z.int().min(0),
  }),
)

/** Members of an establishment's provident fund in its latest wage month. Needs a live consent. */
export function createProvidentFund(
  config: GatewayConfig,
  deps: RegistryDeps,
  breakers: Breakers,
): Registry<{ pan: string }, ProvidentFund> {
  return createRegistry(
    {
      name: 'provident-fund',
      connectorVersion: '1.0.0',
      source: 'EPFO',
      tier: 'REGISTRY_VERIFIED',
      needsConsent: true,
      request: ({ pan }, context) => gatewayGet(config, context, '/establishments', { pan }),
      parse: (body, { pan }) =>
        readEnvelope(ProvidentFundAnswer, body, (data) => (data.pan === pan ? data : undefined)),
      reasonOf: gatewayReason,
    },
    deps,
    breakers,
  )
}
