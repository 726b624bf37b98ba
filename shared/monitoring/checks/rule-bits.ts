/** The rules of a check that reach into what is true of it (docs/spec/alerting.md#alert-pipeline); a plain check has none of them. */
export const RULE_BITS = { runs: 1, sources: 2, previews: 4, pingAuth: 8 } as const

/**
 * Whether more than schedule and pings decide when a check goes down: then only `alertAfter` says it, which whoever
 * changes the check computes with what the rule needs.
 */
export function hasRules({ ruleBits = 0 }: { ruleBits?: number }): boolean {
  return (ruleBits & (RULE_BITS.runs | RULE_BITS.sources)) !== 0
}
