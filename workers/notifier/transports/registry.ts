import { boardTransports } from './boards.ts'
import { chatTransports } from './chat.ts'
import { incidentToolTransports } from './incident-tools.ts'
import { otherTransports } from './other.ts'
import { phoneTransports } from './phone.ts'
import { pushTransports } from './push.ts'
import type { Transport } from './transport.ts'
import { webhookTransport } from './webhook.ts'

const all: readonly Transport[] = [
  webhookTransport,
  ...phoneTransports,
  ...chatTransports,
  ...incidentToolTransports,
  ...pushTransports,
  ...boardTransports,
  ...otherTransports,
]

/** One transport for each kind of `shared/monitoring/integrations/kinds.ts`. */
export const transports: ReadonlyMap<string, Transport> = new Map(all.map((transport) => [transport.kind, transport]))
