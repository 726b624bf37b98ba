import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { labelOfKind } from '../integrations/labels.ts'

/** What needs somebody now; nothing when nothing does. @param props.failing integrations whose last message failed */
export function AttentionStrip({ down, failing }: { down: number; failing: readonly StoredIntegration[] }) {
  if (failing.length === 0) return null
  return (
    <p class="problem strip" role="status">
      {down > 0 && (
        <>
          <b>
            {down} {down === 1 ? 'check is' : 'checks are'} down.
          </b>{' '}
        </>
      )}
      <b>Alerts cannot be sent</b> by{' '}
      {failing.map((channel, index) => (
        <span key={channel.uuid}>
          {index > 0 && '; '}
          <a href={`/integrations/${channel.uuid}`}>{channel.name || labelOfKind(channel.kind)}</a>: {channel.lastError}
        </span>
      ))}
    </p>
  )
}
