export interface Factor {
  /** `presentation`, `document`, or `registry.` and its name */
  key: string
  tier: string
  /** a presentation of an issuer that the operator trusts and marks HIGH */
  isHigh: boolean
  observedAt: Date
  /** at most one year after its observation */
  expiresAt: Date
}

type AssuranceLevel = 'HIGH' | 'SUBSTANTIAL' | 'LOW' | 'NONE'

export interface Assurance {
  level: AssuranceLevel
  factors: Factor[]
  /** of its factors; null without any */
  expiresAt: Date | null
}

export const FACTOR_DAYS = 365

/** The first level that applies (docs/spec/evidence-families.md#subject-states). */
export function assuranceOf(factors: readonly Factor[], nowMs: number): Assurance {
  const live = factors
    .filter(({ expiresAt }) => expiresAt.getTime() > nowMs)
    .toSorted((a, b) => b.expiresAt.getTime() - a.expiresAt.getTime())
  const longest = (wanted: (factor: Factor) => boolean) => live.find(wanted)
  const high = longest(({ key, isHigh }) => key === 'presentation' && isHigh)
  const presentation = longest(({ key }) => key === 'presentation')
  const registry = longest(({ key }) => key.startsWith('registry.'))
  const document = longest(({ key }) => key === 'document')
  const [any] = live
  if (high && registry) return level('HIGH', [high, registry])
  if (presentation) return level('SUBSTANTIAL', [presentation])
  if (registry && document) return level('SUBSTANTIAL', [registry, document])
  return any ? level('LOW', [any]) : { level: 'NONE', factors: [], expiresAt: null }
}

function level(name: AssuranceLevel, factors: Factor[]): Assurance {
  return { level: name, factors, expiresAt: new Date(Math.min(...factors.map((factor) => factor.expiresAt.getTime()))) }
}

export function assuranceView({ level: name, factors, expiresAt }: Assurance) {
  return {
    level: name,
    factors: factors.map(({ key, tier, observedAt, expiresAt: ends }) => ({
      key,
      tier,
      observedAt: observedAt.toISOString(),
      expiresAt: ends.toISOString(),
    })),
    expiresAt: expiresAt?.toISOString() ?? null,
  }
}
