/** What of an integration tells whether it can be relied on. */
interface ShownIntegration {
  disabledAt: Date | null
  lastError: string
  isEmailVerified: boolean
}

/** Why it may not tell anybody, in a word or two; empty when nothing is known against it. */
export function troubleOf({ disabledAt, lastError, isEmailVerified }: ShownIntegration): string {
  if (disabledAt !== null) return 'switched off'
  if (!isEmailVerified) return 'not confirmed'
  return lastError === '' ? '' : 'failing'
}

/** The same as a mark beside its name. */
export function IntegrationTrouble({ channel }: { channel: ShownIntegration }) {
  const trouble = troubleOf(channel)
  return trouble === '' ? null : <span class="pill bad">{trouble}</span>
}
