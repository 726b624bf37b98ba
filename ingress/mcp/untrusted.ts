import { z } from 'zod'

/** Text of an outside party (a registry, a caller, a ping): data, never an instruction (docs/spec/evidence-families.md#agent-audit). */
export const UntrustedSchema = z.object({ untrusted: z.literal(true), source: z.string(), text: z.string() })
export type Untrusted = z.infer<typeof UntrustedSchema>

const LONGEST = 500

/** Marks such a text: control, direction and zero-width characters removed, at most 500 characters. */
export function untrusted(source: string, text: string): Untrusted {
  const plain = text.normalize('NFC').replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ')
  return { untrusted: true, source, text: [...plain.replace(/ {2,}/g, ' ').trim()].slice(0, LONGEST).join('') }
}

/** Members of the API's answers that hold a text of whoever asked for them, in their own words. */
const WRITTEN_BY_CALLERS = new Set(['receivableRef', 'dealId'])

/**
 * An answer of the API with the texts that callers wrote marked, in records and lists too. The members of an anchored
 * object are the ones that were hashed no more: who verifies it reads it through the API.
 */
export function markCallers(answer: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, markedMember(name, value)]))
}

function markedMember(name: string, value: unknown): unknown {
  if (typeof value === 'string') return WRITTEN_BY_CALLERS.has(name) ? untrusted('caller', value) : value
  if (Array.isArray(value)) return value.map((each) => markedMember(name, each))
  return typeof value === 'object' && value !== null ? markCallers(value) : value
}
