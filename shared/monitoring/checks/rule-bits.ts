/** A plain check has no bits (docs/spec/alerting.md#alert-pipeline). */
export const RULE_BITS = { runs: 1, sources: 2, previews: 4, pingAuth: 8 } as const

/**
 * With rules, only the stored `alertAfter` is valid: code that changes the check must compute it with the facts of
 * the rule.
 */
export function hasRules({ ruleBits = 0 }: { ruleBits?: number }): boolean {
  return (ruleBits & (RULE_BITS.runs | RULE_BITS.sources)) !== 0
}
