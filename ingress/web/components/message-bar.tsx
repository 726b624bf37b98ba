type State = 'pending' | 'delivered' | 'failed' | 'suppressed'

/** Bars that a full one has: newest right. */
export const MESSAGES_IN_BAR = 20

/** What became of the last messages, oldest left; what failed is taller, and not only red. */
export function MessageBar({ states }: { states: readonly State[] }) {
  const sent = states.filter((state) => state === 'delivered').length
  const label = states.length === 0 ? 'No messages yet.' : `${sent} of the last ${states.length} were sent.`
  const missing = MESSAGES_IN_BAR - states.length
  const looks = { good: '', bad: '', none: '' }
  for (const [index, state] of states.entries()) {
    const look = state === 'delivered' ? 'good' : state === 'failed' ? 'bad' : 'none'
    const at = (missing + index) * 4
    looks[look] += look === 'bad' ? `M${at} 0h3v28h-3z` : `M${at} 8h3v20h-3z`
  }
  return (
    <svg
      class="days slim messages-bar"
      viewBox={`0 0 ${MESSAGES_IN_BAR * 4} 28`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {Object.entries(looks).map(([look, d]) => d !== '' && <path key={look} class={look} d={d} />)}
    </svg>
  )
}
