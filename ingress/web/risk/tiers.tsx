import { TIERS, type TierCount, tierLabel } from '#shared/risk/packs/pdf/tiers.ts'

/** The fill shows the tier; a cross marks a missing value. */
function TierIcon({ tier }: { tier: string }) {
  const place = TIERS.map(String).indexOf(tier)
  const steps = TIERS.length - 1
  const height = place < 0 ? 0 : (10 * (steps - place)) / steps
  return (
    <svg class="tier-icon" viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
      <rect class="tier-box" x="2" y="2" width="10" height="10" />
      {height > 0 ? (
        <rect class="tier-fill" x="2" y={12 - height} width="10" height={height} />
      ) : (
        <path class="tier-box" d="M2 2l10 10M12 2L2 12" />
      )}
    </svg>
  )
}

export function Tier({ tier }: { tier: string }) {
  return (
    <span class={tier === 'MISSING' ? 'tier is-missing' : 'tier'}>
      <TierIcon tier={tier} />
      {tierLabel(tier)}
    </span>
  )
}

/** Shows tiers in one line; the width of each is its number of values. */
export function TierBar({ tiers }: { tiers: readonly TierCount[] }) {
  const total = tiers.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return <>—</>
  const missing = tiers.find(({ tier }) => tier === 'MISSING')?.count ?? 0
  const parts = tiers.filter(({ count }) => count > 0).map(({ label, count }) => `${count} ${label.toLowerCase()}`)
  let at = 0
  return (
    <span class="tier-bar" title={parts.join(', ')}>
      <svg viewBox={`0 0 ${total * 10} 10`} preserveAspectRatio="none" role="img" aria-label={parts.join(', ')}>
        {tiers.map(({ tier, count }, place) => {
          const x = at
          at += count * 10
          return count === 0 ? null : (
            <rect key={tier} class={`tier-part is-${place}`} x={x} y="0" width={count * 10} height="10" />
          )
        })}
      </svg>
      <small class={missing > 0 ? 'is-missing' : undefined}>
        {missing === 0 ? 'none missing' : `${missing} missing`}
      </small>
    </span>
  )
}

export function TierStrip({ tiers }: { tiers: readonly TierCount[] }) {
  return (
    <ul class="tier-strip" aria-label="Values by evidence tier">
      {tiers.map(({ tier, count }) => (
        <li key={tier} class={count === 0 ? 'is-none' : undefined}>
          <b class="figure">{count}</b>
          <Tier tier={tier} />
        </li>
      ))}
    </ul>
  )
}
