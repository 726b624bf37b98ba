import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { type Calendar, wallTimeText, weekdayOf } from '#shared/monitoring/on-call/wall-time.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'

export interface BarRow {
  label: string
  look: '' | 'of-layer' | 'of-override'
  spans: readonly (WindowTime & { person: string | null })[]
}

interface Props {
  rows: readonly BarRow[]
  gaps: readonly WindowTime[]
  calendar: Calendar
  tz: string
  /** first day to draw */
  date: number
  days: number
  now: Micros
  nameOf: (address: string) => string
}

const LEFT = 110
const WIDTH = 1240
const HEAD = 24
const ROW = 30
const DAY_SECONDS = 86_400
/** Pixels of a character, to omit names that do not fit. */
const LETTER = 7

/** Draws shifts as bars: first the result, then layers and overrides. The list below has the same shifts as text. */
export function ShiftBars({ rows, gaps, calendar, tz, date, days, now, nameOf }: Props) {
  const dates = Array.from({ length: days }, (_, index) => date + index)
  const startOf = (day: number) => calendar.resolve(day * DAY_SECONDS)
  const [from, until] = [startOf(date), startOf(date + days)]
  const xOf = (at: Micros) =>
    round(LEFT + ((Math.min(Math.max(at, from), until) - from) / (until - from)) * (WIDTH - LEFT))
  const height = HEAD + rows.length * ROW
  const timesOf = (span: WindowTime) =>
    `${wallTimeText(span.from, tz)} to ${wallTimeText(span.until, tz)} (${tz}); ${utc(span.from)} to ${utc(span.until)} UTC`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label="Shifts as bars">
      <svg
        class="shift-bars"
        viewBox={`0 0 ${WIDTH} ${height}`}
        role="img"
        aria-label={`Shifts of ${days} days; ${gaps.length} coverage gaps. The list of shifts follows.`}
      >
        {dates.map((day) => (
          <g key={day}>
            {isOff(calendar, day) && (
              <rect
                class="off-day"
                x={xOf(startOf(day))}
                y="0"
                width={xOf(startOf(day + 1)) - xOf(startOf(day))}
                height={height}
              />
            )}
            <path class="day-line" d={`M${xOf(startOf(day))} 0v${height}`} />
            <text class="day-name" x={xOf(startOf(day)) + 4} y="16">
              {dayText(day)}
            </text>
          </g>
        ))}
        {rows.map(({ label, look, spans }, index) => (
          <g key={`${index} ${label}`}>
            <text x="0" y={HEAD + index * ROW + 19}>
              {label.length > 14 ? `${label.slice(0, 13)}…` : label}
            </text>
            {spans.map((span) => {
              const width = round(Math.max(1, xOf(span.until) - xOf(span.from)))
              const name = span.person === null ? 'no person' : nameOf(span.person)
              return (
                <g key={span.from}>
                  <rect
                    class={`bar ${look}`}
                    x={xOf(span.from)}
                    y={HEAD + index * ROW + 4}
                    width={width}
                    height={ROW - 8}
                    rx="3"
                  >
                    <title>{`${name}: ${timesOf(span)}`}</title>
                  </rect>
                  {width > 12 && (
                    <text x={xOf(span.from) + 5} y={HEAD + index * ROW + 19}>
                      {fitted(name, width)}
                    </text>
                  )}
                </g>
              )
            })}
          </g>
        ))}
        {gaps.map((gap) => (
          <g key={gap.from}>
            <rect
              class="gap"
              x={xOf(gap.from)}
              y={HEAD + 4}
              width={round(Math.max(2, xOf(gap.until) - xOf(gap.from)))}
              height={ROW - 8}
            >
              <title>{`Coverage gap: ${timesOf(gap)}`}</title>
            </rect>
            <path class="hatch" d={hatchOf(xOf(gap.from), xOf(gap.until))} />
          </g>
        ))}
        <path class="now-line" d={`M${xOf(now)} ${HEAD}V${height}`} />
      </svg>
    </section>
  )
}

function isOff({ dayOf }: Calendar, date: number): boolean {
  return ['sat', 'sun', 'hol'].includes(dayOf(date))
}

function dayText(date: number): string {
  const day = weekdayOf(date)
  return `${day.charAt(0).toUpperCase()}${day.slice(1)} ${new Date(date * DAY_SECONDS * 1000).getUTCDate()}`
}

function fitted(name: string, width: number): string {
  const letters = Math.floor((width - 8) / LETTER)
  return name.length <= letters ? name : letters < 2 ? '' : `${name.slice(0, letters - 1)}…`
}

function hatchOf(from: number, until: number): string {
  const lines: string[] = []
  for (let x = from; x < until; x += 7) lines.push(`M${round(x)} ${HEAD + ROW - 4}l6 -${ROW - 8}`)
  return lines.join('')
}

function utc(at: Micros): string {
  return toIsoSeconds(at).slice(5, 16).replace('T', ' ')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
