import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { type Micros, toIsoMillis } from '../../time.ts'

/** Each operation names the members it uses. */
export interface OperationDeps {
  enqueue: Enqueue
  secrets: Secrets
  now(): Micros
}

/** ISO 8601 UTC with milliseconds. */
export function instant(now: Micros): string {
  return toIsoMillis(now)
}
