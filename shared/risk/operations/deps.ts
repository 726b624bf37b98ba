import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { type Micros, toIsoMillis } from '../../time.ts'

/** What operations are given beside the transaction; each names what it uses of it. */
export interface OperationDeps {
  enqueue: Enqueue
  secrets: Secrets
  /** the database's time */
  now(): Micros
}

/** An instant as objects and events state it: ISO 8601 UTC with milliseconds. */
export function instant(now: Micros): string {
  return toIsoMillis(now)
}
