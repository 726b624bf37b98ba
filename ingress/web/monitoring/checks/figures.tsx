import type { Check, ShownStatus } from '#shared/monitoring/checks/check.ts'
import { nextPing } from '#shared/monitoring/checks/status.ts'
import type { Downtime } from '#shared/monitoring/flips/downtime.ts'
import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { type DownDay, knownDowntime } from '#shared/monitoring/pages/down-days.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, toDate, toSeconds } from '#shared/time.ts'
import { Ago } from '../../shell/basics.tsx'
import { dayName, humanDuration } from '../../shell/format.ts'
import { DayBar } from '../day-bar.tsx'
import type { Run } from './runs.ts'
import { percentUp } from './scale.ts'

/** @param props.since null before the first ping */
export function Figures(props: {
  check: Check
  status: ShownStatus
  days: readonly DownDay[]
  runs: readonly Run[]
  since: Micros | null
  now: Micros
  /** merged periods that count neither as uptime nor as downtime */
  excluded: readonly WindowTime[]
}) {
  const { check, status, days, runs, since, now, excluded } = props
  const due = status === 'up' || status === 'grace' ? nextPing({ ...check, lastStart: null }, nextOccurrence) : null
  const lengths = runs.flatMap(({ from, until }) => (until === null ? [] : [until - from])).toSorted((a, b) => a - b)
  const median = lengths[Math.floor(lengths.length / 2)]
  const known: Downtime | null = since === null ? null : knownDowntime(days, since, now)
  return (
    <section class="card" data-region="figures" aria-label="At a glance">
      <dl class="figures">
        <div>
          <dt>Uptime, {days.length} days</dt>
          <dd>
            {known === null ? '–' : percentUp(known, known.from, excluded)}
            {/* A new check has fewer days than the bar. */}
            {known !== null && known.from === since && <small>since {dayName.format(toDate(since))}</small>}
          </dd>
        </div>
        <div>
          <dt>Median run</dt>
          <dd>{median === undefined ? '–' : humanDuration(toSeconds(median))}</dd>
        </div>
        <div>
          <dt>Last ping</dt>
          <dd>{check.lastPing === null ? 'never' : <Ago at={check.lastPing} now={now} />}</dd>
        </div>
        <div>
          <dt>Next expected</dt>
          <dd>{due === null ? '–' : due < now ? 'overdue' : <Ago at={due} now={now} />}</dd>
        </div>
      </dl>
      <DayBar days={days} />
      <p class="day-ends">
        <small>{days.length} days ago</small>
        <small>today</small>
      </p>
    </section>
  )
}
