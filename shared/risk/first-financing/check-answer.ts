import type { RegistryMatch } from '../packs/signals/double-financing.ts'

/** A match without owner, amount, day or number (docs/spec/evidence-families.md#first-financing). */
export interface DisclosedMatch extends RegistryMatch {
  /** its holder did not answer a dispute */
  contested: boolean
}

export type CheckStatus = 'DUPLICATE_FINANCED' | 'DUPLICATE_REGISTERED' | 'POSSIBLE_MATCH' | 'UNRESOLVED' | 'CLEAN'

export function checkStatus(matches: readonly DisclosedMatch[], isResolved: boolean): CheckStatus {
  const others = matches.filter(({ ownRegistration }) => !ownRegistration)
  const exact = others.filter((match) => match.class === 'EXACT')
  if (exact.some(({ state }) => state === 'FINANCED')) return 'DUPLICATE_FINANCED'
  if (exact.length > 0) return 'DUPLICATE_REGISTERED'
  if (others.length > 0) return 'POSSIBLE_MATCH'
  return isResolved ? 'CLEAN' : 'UNRESOLVED'
}

/** One entry per class, state and ownership hides the number of registrations. */
export function disclosed(matches: readonly (RegistryMatch & { contested?: boolean })[]): DisclosedMatch[] {
  const entries = new Map<string, DisclosedMatch>()
  for (const { class: of, state, ownRegistration, firstSeenMonth, contested = false } of matches) {
    const key = `${of}/${state}/${ownRegistration}`
    const known = entries.get(key)
    entries.set(key, {
      class: of,
      state,
      ownRegistration,
      firstSeenMonth: known && known.firstSeenMonth < firstSeenMonth ? known.firstSeenMonth : firstSeenMonth,
      contested: contested || known?.contested === true,
    })
  }
  return [...entries.values()].toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)))
}

function orderOf({ class: of, state, ownRegistration }: DisclosedMatch): string {
  return `${['EXACT', 'NEAR', 'ECONOMIC'].indexOf(of)}${state}${ownRegistration}`
}
