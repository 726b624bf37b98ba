/** By the value of `?done=`. */
const notices: Readonly<Record<string, string>> = {
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out everywhere else.',
  'session-ended': 'That session is signed out.',
  'password-changed': 'The password is changed, and you are signed out everywhere else.',
  'password-reset':
    'The password is changed, and you are signed out everywhere else. Keys and invitations that were created with your account still work: revoke those that you did not create.',
  'name-changed': 'Saved.',
  'reports-saved': 'Saved. You receive only the mails chosen below.',
  'first-ping':
    'Your first ping has arrived: the check is up. Open it and choose Edit to set how often a ping is expected.',
  'check-created': 'The check is created. It waits for its first ping.',
  'check-saved': 'The check is saved.',
  'check-deleted': 'The check is deleted.',
  'check-copied': 'This is the copy. It waits for its first ping.',
  'check-transferred':
    'The check has moved here. Its ping URL stays the same; its integrations stayed in the other project.',
  'checks-changed': 'Done.',
  'integration-created': 'The integration is created. Send a test to see that it works.',
  'recipient-requested': 'The recipient receives a mail to confirm. Alerts are sent once they agree.',
  'integration-saved': 'The integration is saved.',
  'integration-deleted': 'The integration is deleted.',
  'policy-saved': 'The policy is saved. It applies from now on.',
  'policy-deleted': 'The policy is deleted.',
  'schedule-saved': 'The schedule is saved. It applies from now on.',
  'schedule-deleted': 'The schedule is deleted.',
  'override-saved': 'The override is saved.',
  'override-deleted': 'The override is deleted. Its past shifts stay recorded.',
  'swap-saved': 'The swap is saved.',
  'taken-over': 'You are on call.',
  'feed-revoked': 'The calendar address no longer works.',
  'window-saved': 'The maintenance is planned.',
  'window-ended': 'The maintenance has ended. Anything still down is reported now.',
  'window-deleted': 'The maintenance is deleted.',
  'project-created': 'The project is created.',
  'project-saved': 'The project is saved.',
  'project-deleted': 'The project is deleted.',
  'key-revoked': 'The key is revoked. It stops working within seconds.',
  'status-page-saved': 'The status page is public at the URL below.',
  'status-page-removed': 'The status page is removed.',
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

export function Problem({ text }: { text: string | null | undefined | false }) {
  return text ? (
    <p class="problem" role="alert">
      {text}
    </p>
  ) : null
}

type State = 'pending' | 'delivered' | 'failed' | 'suppressed'

export const MESSAGES_IN_BAR = 20

/** The newest is on the right. Failed messages are taller, so that colour is not the only difference. */
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
