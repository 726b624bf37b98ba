import { durationOf } from '#shared/monitoring/alerting/incident-list.ts'
import type { ShownIncident, TimelineRow } from '#shared/monitoring/alerting/incident-page-view.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { hasRules } from '#shared/monitoring/checks/rule-bits.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { Distance, Exact } from '../../shell/basics.tsx'
import { humanDuration } from '../../shell/format.ts'

interface Props {
  incident: ShownIncident
  check: Check
  rows: readonly TimelineRow[]
  now: Micros
}

/** `Down since 02:12 (26 min): no ping by 02:10 plus 1 min grace. Last failure: exit 3.` */
export function Cause(props: Props) {
  const { incident, rows, now } = props
  const { downAt, resolvedAt } = incident
  const exit = rows.findLast(({ kind }) => kind === 'failure')?.detail.exit
  return (
    <>
      {resolvedAt === null ? (
        <>
          Down since <Exact at={downAt} isNamed /> (<Distance at={downAt} now={now} />)
        </>
      ) : (
        <>
          Was down for {humanDuration(durationOf(incident, now))}, from <Exact at={downAt} isNamed /> to{' '}
          <Exact at={resolvedAt} isNamed />
        </>
      )}
      : <Reason {...props} />
      {typeof exit === 'number' && ` Last failure: exit ${exit}.`}
    </>
  )
}

function Reason({ incident, check, rows }: Props) {
  const { downAt, resolvedAt } = incident
  const first = rows.find(({ kind, what }) => kind === 'flip' && what === 'down')
  if (first?.detail.reason === 'fail') return <>a failure was reported.</>
  const begin = downAt - microsOfSeconds(check.graceSeconds)
  const grace = humanDuration(check.graceSeconds)
  // The deadline of a rule and of an earlier setting cannot be derived from the check.
  if (hasRules(check) || resolvedAt !== null) return <>no ping in time.</>
  if (check.lastStart === begin)
    return (
      <>
        the run that started at <Exact at={begin} /> took longer than {grace}.
      </>
    )
  return (
    <>
      no ping by <Exact at={begin} /> plus {grace} grace.
    </>
  )
}
