import type { Knex } from 'knex'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { secretRefusals } from '#shared/monitoring/pings/secret-store.ts'
import { findLimitedPings, type LimitedPings } from '#shared/monitoring/pings/usage-store.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { Ago, Exact } from '../../shell/basics.tsx'
import { labelOfKind } from '../integrations/labels.ts'

/**
 * Renders nothing if no integration fails.
 * @param props.failing integrations whose last message failed
 */
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
      {failing.map((integration, index) => (
        <span key={integration.uuid}>
          {index > 0 && '; '}
          <a href={`/integrations/${integration.uuid}`}>{integration.name || labelOfKind(integration.kind)}</a>:{' '}
          {integration.lastError}
        </span>
      ))}
    </p>
  )
}

/** Shown in a project that has checks but no integration. */
export function NoAlerts({ projectUuid }: { projectUuid: string }) {
  return (
    <p class="notice" role="status">
      No alerts are sent yet: this project has no integrations.{' '}
      <a href={`/projects/${projectUuid}/integrations/new`}>Connect an integration</a>
    </p>
  )
}

type Lost = Awaited<ReturnType<typeof findLost>>

/** Loads pings that were not logged: above the rate limit, or without the secret. */
export async function findLost(db: Knex, checkId: number) {
  const [limited, refused] = await Promise.all([findLimitedPings(db, checkId), secretRefusals(db, checkId)])
  return { limited, refused }
}

export function LostPings({ lost, perMinute, now }: { lost: Lost; perMinute: number; now: Micros }) {
  return (
    <>
      <RefusedPings hours={lost.refused} />
      {lost.limited && <LimitedNotice limited={lost.limited} perMinute={perMinute} now={now} />}
    </>
  )
}

/** Pings of the last two days without the correct secret, per hour. */
function RefusedPings({ hours }: { hours: readonly { hour: Micros; count: number }[] }) {
  if (hours.length === 0) return null
  return (
    <div class="notice bad">
      <p>Pings were refused because they showed no right secret:</p>
      <ul>
        {hours.map(({ hour, count }) => (
          <li key={hour}>
            from <Exact at={hour} /> UTC: {count}
          </li>
        ))}
      </ul>
    </div>
  )
}

function LimitedNotice(props: { limited: LimitedPings; perMinute: number; now: Micros }) {
  const { count, since, lastAt } = props.limited
  return (
    <p class="notice" role="status">
      {count.toLocaleString('en')} {count === 1 ? 'ping was' : 'pings were'} not logged since{' '}
      <Exact at={microsOfDate(since)} /> UTC, the last <Ago at={microsOfDate(lastAt)} now={props.now} />: the check was
      pinged more often than the limit of {props.perMinute.toLocaleString('en')} a minute allows.
    </p>
  )
}
