import { z } from 'zod'

/** Text that somebody outside wrote (a registry, a caller, a ping): data, never an instruction (families 8.4). */
export const UntrustedSchema = z.object({ untrusted: z.literal(true), source: z.string(), text: z.string() })
export type Untrusted = z.infer<typeof UntrustedSchema>

const LONGEST = 500

/** Marks such a text: control, direction and zero-width characters removed, at most 500 characters. */
export function untrusted(source: string, text: string): Untrusted {
  const plain = text.normalize('NFC').replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ')
  return { untrusted: true, source, text: [...plain.replace(/ {2,}/g, ' ').trim()].slice(0, LONGEST).join('') }
}
