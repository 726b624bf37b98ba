/**
 * Bits of the rules that affect the status of a check (docs/spec/alerting.md#alert-pipeline); a plain check has none.
 */
export const RULE_BITS = { runs: 1, sources: 2, previews: 4, pingAuth: 8 } as const

/**
 * Returns true if more than schedule and pings decides when a check goes down. Then only the stored `alertAfter` is
 * valid, and code that changes the check must compute it with the facts of the rule.
 */
export function hasRules({ ruleBits = 0 }: { ruleBits?: number }): boolean {
  return (ruleBits & (RULE_BITS.runs | RULE_BITS.sources)) !== 0
}
