import type { DownDay } from '#shared/monitoring/pages/down-days.ts'
import { humanDuration } from '../shell/format.ts'

/** Shows days as bars, oldest left. Bad days are taller, so that colour is not the only difference. */
export function DayBar({ days, isSlim = false }: { days: readonly DownDay[]; isSlim?: boolean }) {
  return (
    <svg
      class={isSlim ? 'days slim' : 'days'}
      viewBox={`0 0 ${days.length * 4} 28`}
      preserveAspectRatio="none"
      role="img"
      aria-label={summaryOf(days)}
    >
      {paths(days, isSlim).map(({ look, d }) => d !== '' && <path key={look} class={look} d={d} />)}
      {!isSlim &&
        runsOf(days, textOf).map(({ from, length, value }) => (
          <path key={from} class="day-hover" d={`M${from * 4} 0h${length * 4}v28h-${length * 4}z`}>
            <title>{`${rangeOf(days, from, length)}: ${value}`}</title>
          </path>
        ))}
    </svg>
  )
}

/** Returns the outages, unknown times and maintenance of a bar in one or more sentences. */
function summaryOf(days: readonly DownDay[]): string {
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
  return [
    label,
    ...(unknown === 0 ? [] : [`Partly unknown on ${on(unknown)}.`]),
    ...(planned === 0 ? [] : [`Maintenance on ${on(planned)}.`]),
  ].join(' ')
}

/**
 * Returns one path per CSS class. The bars of consecutive days are one dashed line, because a page has up to a hundred
 * bars of ninety days.
 */
function paths(days: readonly DownDay[], isSlim: boolean): { look: string; d: string }[] {
  const looks = { good: '', bad: '', none: '' }
  for (const { from, length, value } of runsOf(days, lookOf)) looks[value] += `M${from * 4} 14h${length * 4 - 1}`
  const pathOf = (isDrawn: (day: DownDay) => boolean | undefined, draw: (index: number) => string) =>
    days.map((day, index) => (isDrawn(day) ? draw(index) : '')).join('')
  const hatch = (index: number) => hatchOf(index, isSlim)
  return [
    ...Object.entries(looks).map(([look, d]) => ({ look, d })),
    { look: 'hatch', d: pathOf((day) => day.isUnknown, hatch) },
    { look: 'hatch of-plan', d: pathOf((day) => day.isPlanned && !day.isUnknown, hatch) },
    {
      look: 'planned',
      d: pathOf(
        (day) => day.isPlanned && !isSlim,
        (index) => `M${index * 4} 26h3v2h-3z`,
      ),
    },
  ]
}

function lookOf({ seconds }: DownDay): 'good' | 'bad' | 'none' {
  return seconds === null ? 'none' : seconds > 0 ? 'bad' : 'good'
}

/** Groups consecutive days with equal values. */
function runsOf<Value>(days: readonly DownDay[], kindOf: (day: DownDay) => Value) {
  const runs: { from: number; length: number; value: Value }[] = []
  for (const [index, day] of days.entries()) {
    const value = kindOf(day)
    const last = runs.at(-1)
    if (last?.value === value) last.length += 1
    else runs.push({ from: index, length: 1, value })
  }
  return runs
}

/** Few lines in slim bars, because a list of checks repeats them in each row. */
function hatchOf(index: number, isSlim: boolean): string {
  return `M${index * 4} 8l3-6${isSlim ? 'm-3 18l3-6' : 'm-3 12l3-6'.repeat(3)}`
}

function textOf({ seconds, isPlanned, isUnknown }: DownDay): string {
  const text = seconds === null ? 'not known' : seconds > 0 ? `down ${humanDuration(seconds)}` : 'no downtime'
  return `${text}${isUnknown ? ', partly unknown' : ''}${isPlanned ? ', maintenance' : ''}`
}

function rangeOf(days: readonly DownDay[], from: number, length: number): string {
  const first = days[from]?.date ?? ''
  return length === 1 ? first : `${first} to ${days[from + length - 1]?.date}`
}
