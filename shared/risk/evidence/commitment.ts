import { hash } from 'node:crypto'
import { canonicalize } from '../../canonical/jcs.ts'
import type { JsonValue } from '../../canonical/parse-json.ts'

export interface Committed<Value extends JsonValue = string> {
  name: string
  value: Value
  /** hex of 32 random bytes */
  salt: string
}

/**
 * SHA-256(salt || JCS([name, value])) in hex. Once value and salt are deleted, it reveals nothing about the value, so
 * personal values can be erased although the log keeps the commitment (docs/spec/risk-signals.md#anchored-objects).
 */
export function commitmentOf({ name, value, salt }: Committed<JsonValue>): string {
  const preimage = Buffer.concat([Buffer.from(salt, 'hex'), Buffer.from(canonicalize([name, value]))])
  return hash('sha256', preimage, 'hex')
}

export function commit<Value extends JsonValue>(
  values: Readonly<Record<string, Value>>,
  random: (size: number) => Buffer,
): { sealed: Committed<Value>[]; commitments: { name: string; commitment: string }[] } {
  const sealed = Object.entries(values).map(([name, value]) => ({ name, value, salt: random(32).toString('hex') }))
  return { sealed, commitments: sealed.map((entry) => ({ name: entry.name, commitment: commitmentOf(entry) })) }
}
