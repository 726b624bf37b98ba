import { createHash } from 'node:crypto'

/** A whole number of a range, both ends included, derived from SHA-256(seed | subject | field). */
export function demoInt(seed: string, subject: string, field: string, from: number, to: number): number {
  const digest = createHash('sha256').update(`${seed}|${subject}|${field}`).digest()
  return from + (digest.readUIntBE(0, 6) % (to - from + 1))
}

/** Digits of a demo registry's own number. */
export function demoDigits(seed: string, subject: string, field: string, count: number): string {
  return String(demoInt(seed, subject, field, 0, 10 ** count - 1)).padStart(count, '0')
}

/** A hash that stands for contact data. */
export function demoHash(seed: string, subject: string, field: string): string {
  return createHash('sha256').update(`${seed}|${subject}|${field}`).digest('hex')
}
