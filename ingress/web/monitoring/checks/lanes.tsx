import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { type Micros, toIsoSeconds, toSeconds } from '#shared/time.ts'
import { humanDuration } from '../../shell/format.ts'
import { lanesOf, type Run } from './runs.ts'

const WIDTH = 640
const LEFT = 58
const LANE = 12
/** Pixels between the lines that hatch a gap. */
const HATCH = 6

export interface LaneRun extends Run {
  deadline: Micros | null
  remarks: readonly string[]
}

/**
 * Draws runs in lanes, so that concurrent runs are below each other. Marks deadlines of open runs and hatches coverage
 * gaps.
 * @param props.always true to draw even if no runs were concurrent
 */
export function Lanes(props: { runs: readonly LaneRun[]; gaps: readonly WindowTime[]; now: Micros; always: boolean }) {
  const { runs, gaps, now, always } = props
  if (runs.length === 0) return null
  const until = runs.some((run) => run.until === null) ? now : Math.max(...runs.map((run) => run.until ?? run.from))
  const lanes = lanesOf(runs, until)
  const most = Math.max(...lanes) + 1
  if (most === 1 && !always) return null
  const from = Math.min(...runs.map((run) => run.from))
  const end = Math.max(
    until,
    from + 1,
    ...runs.flatMap(({ until: ended, deadline }) => (ended === null ? (deadline ?? 0) : [])),
  )
  const xOf = (at: Micros) => round(LEFT + ((Math.min(Math.max(at, from), end) - from) / (end - from)) * (WIDTH - LEFT))
  const height = most * LANE
  const within = gaps.filter((gap) => gap.until > from && gap.from < end)
  const summary = most === 1 ? 'No two runs overlapped.' : `Runs overlapped: at most ${most} at once.`
  const outages =
    within.length === 0
      ? ''
      : ` Pings could not be received ${within.length === 1 ? 'once' : `${within.length} times`}.`
  return (
    <>
      <h3>{most === 1 ? 'Runs' : 'Runs at the same time'}</h3>
      <svg class="chart lanes" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`${summary}${outages}`}>
        {within.map((gap) => (
          <path key={gap.from} class="hatch" d={hatchOf(xOf(gap.from), xOf(gap.until), height)}>
            <title>
              Pings could not be received from {clock(gap.from)} to {clock(gap.until)} UTC
            </title>
          </path>
        ))}
        {runs.map((run, index) => (
          <rect
            key={`${run.n}-${run.from}`}
            class={classOf(run)}
            x={xOf(run.from)}
            y={(lanes[index] ?? 0) * LANE + 2}
            width={round(Math.max(3, xOf(run.until ?? until) - xOf(run.from)))}
            height={LANE - 4}
            rx="2"
          >
            <title>{titleOf(run)}</title>
          </rect>
        ))}
        {runs.map(
          ({ until: ended, deadline, n }, index) =>
            ended === null &&
            deadline !== null && (
              <path key={n} class="limit" d={`M${xOf(deadline)} ${(lanes[index] ?? 0) * LANE}v${LANE}`}>
                <title>has to end by {clock(deadline)} UTC</title>
              </path>
            ),
        )}
      </svg>
    </>
  )
}

function classOf({ until, isFailed, remarks }: LaneRun): string {
  const look = until === null ? 'bar open' : isFailed ? 'bar failed' : 'bar'
  return remarks.length > 0 ? `${look} flagged` : look
}

function titleOf({ from, until, n, remarks }: LaneRun): string {
  const what = until === null ? 'still running' : humanDuration(toSeconds(until - from))
  return [`${n === 0 ? '' : `#${n}: `}${what}`, `from ${clock(from)}`, ...remarks].join(', ')
}

function hatchOf(from: number, until: number, height: number): string {
  const lines: string[] = []
  for (let x = from; x <= Math.max(until, from); x += HATCH) lines.push(`M${round(x)} ${height}l3 -${height}`)
  return lines.join('')
}

function clock(at: Micros): string {
  return toIsoSeconds(at).slice(5, 16).replace('T', ' ')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
