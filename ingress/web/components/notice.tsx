/** What a redirect may tell the next page; anything else in the address says nothing. */
const notices: Readonly<Record<string, string>> = {
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out everywhere else.',
  'session-ended': 'That session is signed out.',
  'password-changed': 'The password is changed, and you are signed out everywhere else.',
  'password-reset':
    'The password is changed, and you are signed out everywhere else. Keys and invitations that were created with your account still work: revoke those that you did not create.',
  'name-changed': 'Saved.',
  'reports-saved': 'Saved. Nothing else is sent to you than what is chosen below.',
  'check-created': 'The check is created. It waits for its first ping.',
  'check-saved': 'The check is saved.',
  'check-deleted': 'The check is deleted.',
  'check-copied': 'This is the copy. It waits for its first ping.',
  'check-transferred': 'The check has moved here. Its ping address stays the same; its integrations stayed behind.',
  'checks-changed': 'Done.',
  'integration-created': 'The integration is created. Send a test to see that it works.',
  'recipient-asked': 'The recipient is asked by mail. Alerts go out once they agree.',
  'integration-saved': 'The integration is saved.',
  'integration-deleted': 'The integration is deleted.',
  'policy-saved': 'The policy is saved. It counts from now.',
  'policy-deleted': 'The policy is deleted.',
  'window-saved': 'The maintenance is planned.',
  'window-ended': 'The maintenance has ended. What is still down is told now.',
  'window-deleted': 'The maintenance is deleted.',
  'project-created': 'The project is created.',
  'project-saved': 'The project is saved.',
  'project-deleted': 'The project is deleted.',
  'key-revoked': 'The key is revoked. It stops working within seconds.',
  'status-page-saved': 'The status page is public at the address below.',
  'status-page-removed': 'The status page is gone.',
  'role-changed': 'The role is changed.',
  'member-removed': 'The person no longer belongs to the organisation.',
  'invitation-withdrawn': 'The invitation no longer works.',
  'identity-disconnected': 'That identity cannot sign in to your account any more.',
  'identity-connected': 'Your account is connected: you can sign in that way from now on.',
}

export function Notice({ done }: { done: string }) {
  const text = Object.hasOwn(notices, done) ? notices[done] : undefined
  return text === undefined ? null : (
    <p class="notice" role="status">
      {text}
    </p>
  )
}

/** What is wrong with a form, above it; nothing when nothing is. */
export function Problem({ text }: { text: string | null | undefined | false }) {
  return text ? (
    <p class="problem" role="alert">
      {text}
    </p>
  ) : null
}

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
