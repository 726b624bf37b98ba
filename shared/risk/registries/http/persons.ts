import { z } from 'zod'
import type { Breakers } from '../breaker.ts'
import type { Registry, RegistryDeps } from '../connector.ts'
import type { PersonQuery, PersonRecord } from '../registry-data.ts'
import { createRegistry } from '../runner.ts'
import { envelope, type GatewayConfig, gatewayPost, gatewayReason, readEnvelope } from './gateway.ts'

/** What a person is looked up by: in a body, since it does not belong into access logs. */
export const PersonSearchBody = z.object({ registry: z.enum(['PAN', 'CKYC']), identifier: z.string() })

export const PersonAnswer = envelope(z.object({ registry: z.enum(['PAN', 'CKYC']), status: z.string() }))

/** Whether an identifier is known and in force. No name travels. */
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
