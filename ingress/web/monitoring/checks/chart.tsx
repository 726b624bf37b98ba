import { type Micros, toIsoSeconds, toSeconds } from '#shared/time.ts'
import { humanDuration } from '../../shell/format.ts'
import type { Run } from './runs.ts'
import { type Scale, scaleOf } from './scale.ts'

const WIDTH = 640
const LEFT = 58
const HEIGHT = 140
const TOP = 10
const GAP = 3

type Measured = Run & { until: Micros }

/**
 * Draws the durations of runs, oldest first. Extreme ones are cut and marked.
 * @param props.path the check's page; bars link to their pings
 * @param props.limit maximum duration of a run; null without a limit
 */
export function DurationChart(props: { runs: readonly Run[]; path: string; limit: Micros | null }) {
  const { runs, path, limit } = props
  const measured = runs.filter((run): run is Measured => run.until !== null)
  if (measured.length === 0) {
    return (
      <p class="muted">
        Nothing is measured yet. Ping <code>/start</code> when the job begins, and the plain URL when it is done.
      </p>
    )
  }
  const scale = scaleOf(measured.map((run) => run.until - run.from))
  const cut = measured.filter((run) => run.until - run.from > scale.top).length
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a picture with links in it; a fieldset is for forms */}
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 22}`}
        role="group"
        aria-label={`The last ${measured.length} measured runs: ${durationText(scale.median)} in the middle, ${durationText(scale.longest)} at most.`}
      >
        <Axis scale={scale} />
        {limit !== null && limit <= scale.top && <Limit y={round(yOf(limit, scale))} />}
        <Bars runs={measured} scale={scale} path={path} />
        <TimeLabels runs={measured} />
      </svg>
      <p class="chart-facts">
        <span>last {durationText(lastLength(measured))}</span>
        <span>median {durationText(scale.median)}</span>
        <span>longest {durationText(scale.longest)}</span>
        {limit !== null && <span>limit {durationText(limit)}</span>}
        {cut > 0 && (
          <span>
            {cut} longer than the scale, marked with <b>↑</b>
          </span>
        )}
      </p>
    </>
  )
}

const yOf = (length: Micros, { top }: Scale) => HEIGHT - (Math.min(length, top) / top) * (HEIGHT - TOP)

function Axis({ scale }: { scale: Scale }) {
  return (
    <>
      {scale.lines.map((length) => (
        <g key={length}>
          <line class="axis" x1={LEFT} y1={round(yOf(length, scale))} x2={WIDTH} y2={round(yOf(length, scale))} />
          <text class="axis-label" x={LEFT - 6} y={round(yOf(length, scale)) + 3.5} text-anchor="end">
            {length === 0 ? '0' : durationText(length)}
          </text>
        </g>
      ))}
      <line
        class="median"
        x1={LEFT}
        y1={round(yOf(scale.median, scale))}
        x2={WIDTH}
        y2={round(yOf(scale.median, scale))}
      />
    </>
  )
}

function Limit({ y }: { y: number }) {
  return <line class="limit" x1={LEFT} y1={y} x2={WIDTH} y2={y} />
}

function Bars({ runs, scale, path }: { runs: readonly Measured[]; scale: Scale; path: string }) {
  const slot = (WIDTH - LEFT) / Math.max(runs.length, 12)
  return (
    <>
      {runs.map((run, index) => {
        const length = run.until - run.from
        const [x, y] = [LEFT + index * slot + GAP / 2, Math.min(yOf(length, scale), HEIGHT - 2)]
        const width = Math.min(slot - GAP, 40)
        const label = `Ping #${run.n}: ${durationText(length)}${run.isFailed ? ', failed' : ''}`
        return (
          <a key={run.n} href={`${path}/pings/${run.n}`} aria-label={label}>
            <rect
              class={run.isFailed ? 'bar failed' : 'bar'}
              x={round(x)}
              y={round(y)}
              width={round(width)}
              height={round(HEIGHT - y)}
              rx="2"
            >
              <title>{label}</title>
            </rect>
            {length > scale.top && (
              <text class="cut" x={round(x + width / 2)} y={TOP + 14} text-anchor="middle">
                ↑
              </text>
            )}
          </a>
        )
      })}
    </>
  )
}

function TimeLabels({ runs }: { runs: readonly Measured[] }) {
  const first = runs[0]
  const last = runs.at(-1)
  if (!first || !last) return null
  const slot = (WIDTH - LEFT) / Math.max(runs.length, 12)
  const text = (run: Measured) => toIsoSeconds(run.until).slice(5, 16).replace('T', ' ')
  return (
    <>
      <text class="axis-label" x={LEFT} y={HEIGHT + 16}>
        {text(first)}
      </text>
      {runs.length > 5 && (
        <text class="axis-label" x={round(LEFT + slot * runs.length)} y={HEIGHT + 16} text-anchor="end">
          {text(last)} UTC
        </text>
      )}
    </>
  )
}

function lastLength(runs: readonly Measured[]): Micros {
  const last = runs.at(-1)
  return last ? last.until - last.from : 0
}

function durationText(micros: Micros): string {
  return humanDuration(toSeconds(micros))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
