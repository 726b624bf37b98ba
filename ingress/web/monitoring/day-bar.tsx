import type { DownDay } from '#shared/monitoring/pages/down-days.ts'
import { humanDuration } from '../shell/format.ts'

/** Shows days as bars, oldest left. Bad days are taller, so that colour is not the only difference. */
export function DayBar({ days, isSlim = false }: { days: readonly DownDay[]; isSlim?: boolean }) {
  const bad = days.filter(({ seconds }) => (seconds ?? 0) > 0).length
  const known = days.filter(({ seconds }) => seconds !== null).length
  const label =
    known === 0
      ? 'Nothing is known yet.'
      : bad === 0
        ? `No outage in ${days.length} days.`
        : `Outages on ${bad} of ${days.length} days.`
  const unknown = days.filter((day) => day.isUnknown).length
  const planned = days.filter((day) => day.isPlanned).length
  const on = (count: number) => (count === 1 ? '1 day' : `${count} days`)
  const summary = [
    label,
    ...(unknown === 0 ? [] : [`Partly unknown on ${on(unknown)}.`]),
    ...(planned === 0 ? [] : [`Maintenance on ${on(planned)}.`]),
  ].join(' ')
  return (
    <svg
      class={isSlim ? 'days slim' : 'days'}
      viewBox={`0 0 ${days.length * 4} 28`}
      preserveAspectRatio="none"
      role="img"
    >
      <title>{summary}</title>
      {paths(days).map(({ look, d }) => d !== '' && <path key={look} class={`day ${look}`} d={d} />)}
      {isSlim && <SlimHatches days={days} />}
      {!isSlim && days.map((day, index) => day.isUnknown && <path key={day.date} class="hatch" d={hatchOf(index)} />)}
      {!isSlim &&
        days.map(
          (day, index) =>
            day.isPlanned && !day.isUnknown && <path key={day.date} class="hatch of-plan" d={hatchOf(index)} />,
        )}
      {!isSlim &&
        days.map(
          (day, index) => day.isPlanned && <path key={day.date} class="planned" d={`M${index * 4} 26h3v2h-3z`} />,
        )}
      {!isSlim &&
        days.map((day, index) => (
          <rect key={day.date} class="day-hover" x={index * 4} width="4" y="0" height="28">
            <title>{titleOf(day)}</title>
          </rect>
        ))}
    </svg>
  )
}

/** One path for all days, because a list has many. */
function SlimHatches({ days }: { days: readonly DownDay[] }) {
  const unknown = days.map((day, index) => (day.isUnknown ? hatchOf(index) : '')).join('')
  const planned = days.map((day, index) => (day.isPlanned && !day.isUnknown ? hatchOf(index) : '')).join('')
  return (
    <>
      {unknown !== '' && <path class="hatch" d={unknown} />}
      {planned !== '' && <path class="hatch of-plan" d={planned} />}
    </>
  )
}

/** One path per look, because a list of fifty checks would have thousands of rectangles. */
function paths(days: readonly DownDay[]): { look: string; d: string }[] {
  const looks = { good: '', bad: '', none: '' }
  for (const [index, { seconds }] of days.entries()) {
    const look = seconds === null ? 'none' : seconds > 0 ? 'bad' : 'good'
    looks[look] += look === 'bad' ? `M${index * 4} 0h3v28h-3z` : `M${index * 4} 4h3v20h-3z`
  }
  return Object.entries(looks).map(([look, d]) => ({ look, d }))
}

function hatchOf(index: number): string {
  return [8, 14, 20, 26].map((y) => `M${index * 4} ${y}l3 -6`).join('')
}

function titleOf({ date, seconds, isPlanned, isUnknown }: DownDay): string {
  const text = seconds === null ? 'not known' : seconds > 0 ? `down ${humanDuration(seconds)}` : 'no downtime'
  return `${date}: ${text}${isUnknown ? ', partly unknown' : ''}${isPlanned ? ', maintenance' : ''}`
}
