import { type Micros, toSeconds } from '#shared/time.ts'
import { humanDuration } from '../frame/format.ts'
import { lanesOf, type Run } from './runs.ts'

const WIDTH = 640
const HEIGHT = 120
const LANE = 12
const GAP = 3

/** Bars for how long runs took, oldest left; below them, where runs overlapped, when each of them ran. */
export function DurationChart({ runs }: { runs: readonly Run[] }) {
  const measured = runs.filter((run): run is Run & { until: Micros } => run.until !== null)
  if (measured.length === 0) {
    return (
      <p class="muted">
        Nothing is measured yet. Ping <code>/start</code> when the job begins, and the plain address when it is done.
      </p>
    )
  }
  const longest = Math.max(...measured.map((run) => run.until - run.from), 1)
  const sorted = measured.map((run) => run.until - run.from).toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  const slot = WIDTH / Math.max(measured.length, 12)
  const now = Math.max(...runs.map((run) => run.until ?? run.from))
  const lanes = lanesOf(runs, now)
  return (
    <>
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`The last ${measured.length} measured runs: ${says(median)} in the middle, ${says(longest)} at most.`}
      >
        <line class="axis" x1="0" y1={HEIGHT - 0.5} x2={WIDTH} y2={HEIGHT - 0.5} />
        {measured.map((run, index) => {
          const height = Math.max(2, ((run.until - run.from) / longest) * (HEIGHT - 8))
          return (
            <rect
              key={run.n}
              class={run.isFailed ? 'bar failed' : 'bar'}
              x={round(index * slot + GAP / 2)}
              y={round(HEIGHT - height)}
              width={round(Math.min(slot - GAP, 40))}
              height={round(height)}
              rx="2"
            >
              <title>{`#${run.n}: ${says(run.until - run.from)}${run.isFailed ? ', failed' : ''}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="chart-facts">
        <span>last {says(lastLength(measured))}</span>
        <span>median {says(median)}</span>
        <span>longest {says(longest)}</span>
      </p>
      {Math.max(...lanes) > 0 && <Overlaps runs={runs} lanes={lanes} now={now} />}
    </>
  )
}

function Overlaps({ runs, lanes, now }: { runs: readonly Run[]; lanes: readonly number[]; now: Micros }) {
  const from = Math.min(...runs.map((run) => run.from))
  const span = Math.max(1, now - from)
  const height = (Math.max(...lanes) + 1) * LANE
  return (
    <>
      <h3>Runs at the same time</h3>
      <svg
        class="chart lanes"
        viewBox={`0 0 ${WIDTH} ${height}`}
        role="img"
        aria-label={`Runs overlapped: at most ${Math.max(...lanes) + 1} at once.`}
      >
        {runs.map((run, index) => (
          <rect
            key={`${run.n}-${run.from}`}
            class={run.until === null ? 'bar open' : run.isFailed ? 'bar failed' : 'bar'}
            x={round(((run.from - from) / span) * WIDTH)}
            y={(lanes[index] ?? 0) * LANE + 2}
            width={round(Math.max(3, (((run.until ?? now) - run.from) / span) * WIDTH))}
            height={LANE - 4}
            rx="2"
          >
            <title>{run.until === null ? 'still running' : `#${run.n}: ${says(run.until - run.from)}`}</title>
          </rect>
        ))}
      </svg>
    </>
  )
}

function lastLength(runs: readonly { from: Micros; until: Micros }[]): Micros {
  const last = runs.at(-1)
  return last ? last.until - last.from : 0
}

function says(micros: Micros): string {
  return humanDuration(toSeconds(micros))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
