/** A plain check has no bits (docs/spec/alerting.md#alert-pipeline). */
export const RULE_BITS = { runs: 1, sources: 2, previews: 4, pingAuth: 8 } as const

/** If true, only the stored `alertAfter` is valid, and changes of the check must compute it with the rule's facts. */
export function hasRules({ ruleBits = 0 }: { ruleBits?: number }): boolean {
  return (ruleBits & (RULE_BITS.runs | RULE_BITS.sources)) !== 0
}
