import type { Check, ShownStatus } from '#shared/monitoring/checks/check.ts'
import { missedByEarly } from '#shared/monitoring/checks/early.ts'
import { goingDownAt, graceStart } from '#shared/monitoring/checks/status.ts'
import type { NotifiedMessage } from '#shared/monitoring/pages/check-log-store.ts'
import type { CheckFlip } from '#shared/monitoring/pages/status-history-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, toIsoSeconds, toSeconds } from '#shared/time.ts'
import { Ago, Distance, Exact } from '../../shell/basics.tsx'
import { humanDuration } from '../../shell/format.ts'
import { Recipient } from './recipient.tsx'

interface Props {
  check: Check
  status: ShownStatus
  now: Micros
  lastFlip: CheckFlip | undefined
  notified: readonly NotifiedMessage[]
}

/** The sentence is updated live. */
export function StatusSentence(props: Props) {
  const { check, status, now } = props
  const change = status === 'up' ? graceStart(check, nextOccurrence) : goingDownAt(check, nextOccurrence)
  const willChange = change !== null && change > now && (status === 'up' || status === 'grace')
  return (
    <p class={`sentence is-${status}`} data-next-change={willChange ? toIsoSeconds(change) : undefined}>
      <StatusText {...props} />
      {check.lastStart !== null && !(status === 'down' && check.status !== 'down') && (
        <>
          {' '}
          A run started <Ago at={check.lastStart} now={now} />.
        </>
      )}
    </p>
  )
}

function StatusText(props: Props) {
  const { check, status, now } = props
  switch (status) {
    case 'new':
      return (
        <>
          Waiting for its first ping.
          {check.lastStart === null && ' Send one to a URL below. This starts its deadline.'}
        </>
      )
    case 'paused':
      return (
        <>{check.manualResume ? 'Paused. Resume manually.' : 'Paused. The next ping or a click on “Resume” ends it.'}</>
      )
    case 'down':
      return <Down {...props} />
    case 'grace': {
      const down = goingDownAt(check, nextOccurrence)
      return (
        <>
          Late. The last ping came {check.lastPing === null ? 'long ago' : <Ago at={check.lastPing} now={now} />}.
          {down !== null && (
            <>
              {' '}
              It goes down <Ago at={down} now={now} /> unless one arrives.
            </>
          )}
        </>
      )
    }
    case 'up': {
      const due = graceStart(check, nextOccurrence)
      return (
        <>
          Up. The last ping came {check.lastPing === null ? 'a moment ago' : <Ago at={check.lastPing} now={now} />}.
          {due !== null && (
            <>
              {' '}
              The next is expected <Ago at={due} now={now} />.
            </>
          )}
        </>
      )
    }
  }
}

/** A missed deadline counts as down even before the sweep has found it. */
function Down({ check, now, lastFlip: flip, notified }: Props) {
  if (check.lastStart !== null && check.status !== 'down') {
    return (
      <>
        Down: the run that started <Ago at={check.lastStart} now={now} /> took longer than its grace time.
      </>
    )
  }
  const since = flip?.to === 'down' ? flip.at : check.alertAfter
  const why = flip?.to === 'down' && flip.reason === 'fail' ? 'a failure was reported' : 'no ping came in time'
  return (
    <>
      {since === null ? (
        'Down.'
      ) : (
        <>
          Down for <Distance at={since} now={now} />, since <Exact at={since} isNamed />: {why}.
        </>
      )}
      {check.lastPing !== null && (
        <>
          {' '}
          The last ping came <Ago at={check.lastPing} now={now} />.
        </>
      )}{' '}
      {flip?.to === 'down' && flip.reason === 'timeout' && <TooEarly check={check} downAt={flip.at} />}
      <Notifications notified={notified} />
    </>
  )
}

/** Offers the rule for early pings to a check that went down although a success came shortly before. */
function TooEarly({ check, downAt }: { check: Check; downAt: Micros }) {
  const missed = missedByEarly(check, check.lastPing, downAt)
  if (!missed) return null
  return (
    <>
      It came {humanDuration(toSeconds(missed.early))} before the expected time <Exact at={missed.occurrence} isNamed />
      , so it counted for the previous one. <a href={`/checks/${check.uuid}/edit#early`}>Accept pings early</a>{' '}
    </>
  )
}

const outcomes = {
  delivered: 'notified',
  pending: 'sending',
  failed: 'not notified',
  suppressed: 'suppressed',
} as const

function Notifications({ notified }: { notified: readonly NotifiedMessage[] }) {
  if (notified.length === 0) return <>No notification was sent.</>
  return (
    <>
      {notified.map(({ integrationUuid, integrationName, integrationKind, state, error }, index) => (
        <span key={integrationUuid ?? integrationName}>
          {index > 0 && '; '}
          <Recipient uuid={integrationUuid} name={integrationName} kind={integrationKind} /> {outcomes[state]}
          {state === 'failed' && error !== '' && ` (${error})`}
        </span>
      ))}
      .
    </>
  )
}
