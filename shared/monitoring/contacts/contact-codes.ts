import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'

export const CODE_SECONDS = 900
const MAX_TRIES = 5

export interface CodeRow {
  digest: Buffer
  createdAt: Micros
  tries: number
  isUsed: boolean
}

export type CodeResult = 'valid' | 'wrong' | 'expired'

/** A used code, or one with too many tries, counts as expired. `isEqual` compares in constant time. */
export function codeResult(row: CodeRow | null, isEqual: (digest: Buffer) => boolean, now: Micros): CodeResult {
  if (!row || row.isUsed || row.tries >= MAX_TRIES) return 'expired'
  if (now > row.createdAt + microsOfSeconds(CODE_SECONDS)) return 'expired'
  return isEqual(row.digest) ? 'valid' : 'wrong'
}

/** Codes sent at most in a time: by a person, to an address in the whole installation, in an organisation. */
export const CODE_LIMITS = {
  person: { count: 5, seconds: 600 },
  address: { count: 3, seconds: 3600 },
  organisation: { count: 50, seconds: 86_400 },
} as const

type CodeScope = keyof typeof CODE_LIMITS

/** Instants at which codes were sent, in any order. */
export type SentCodes = Readonly<Record<CodeScope, readonly Micros[]>>

/** Returns the seconds until another code may be sent; 0 if now. */
export function codeWait(sent: SentCodes, now: Micros): number {
  const waits = Object.entries(CODE_LIMITS).map(([scope, { count, seconds }]) => {
    const window = microsOfSeconds(seconds)
    const recent = sent[scope as CodeScope].filter((at) => at > now - window).toSorted((a, b) => b - a)
    const blocking = recent[count - 1]
    return blocking === undefined ? 0 : Math.max(1, Math.ceil(toSeconds(blocking + window - now)))
  })
  return Math.max(...waits)
}
