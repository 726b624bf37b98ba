import { listUsage, type UsageRow } from '#shared/risk/metering/store.ts'
import { dayText } from '#shared/risk/packs/pdf/figures.ts'
import { type FamilyUsage, usageByFamily } from '#shared/risk/risk-console/store.ts'
import { type Micros, toDate } from '#shared/time.ts'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, loadConsole, sendConsole } from './console.tsx'
import { familyName } from './family-names.ts'

/** Rows of the table of days. */
const DAYS = 300
/** Bars of a family: the last thirty days, today among them. */
const BARS = 30

/** What was metered, per family: one unit per successful call that produced evidence. */
export function usagePages(pages: Pages): void {
  pages.get(`${CONSOLE}/usage`, showUsage)
  pages.get(`${CONSOLE}/usage.csv`, sendUsage)
}

async function showUsage(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { organisationId, env } = console
  const { deps } = context
  const { db } = deps
  const scope = { organisationId, env, family: null, from: null, to: null, after: null, limit: DAYS }
  const [families, days] = await Promise.all([usageByFamily(db, console), listUsage(db, scope)])
  sendConsole(
    context,
    console,
    { title: 'Usage', area: 'usage' },
    <>
      <div class="page-head">
        <h1>Usage</h1>
        {days.length > 0 && (
          <a class="button" href={`${console.base}/usage.csv`}>
            Download as CSV
          </a>
        )}
      </div>
      <p class="muted">
        One unit per successful call that produced evidence. Repetitions, errors and polling are free.
      </p>
      {families.length === 0 && <p class="empty">Nothing was metered yet.</p>}
      {families.length > 0 && <FamilyTable families={families} days={days} today={deps.now()} />}
      {days.length > 0 && <DayTable days={days} />}
    </>,
  )
}

/** Rows of one file: decades of days of every family. */
const MAX_ROWS = 100_000

/** Every day of every family, for a spreadsheet; no text of anybody's own is in it. */
async function sendUsage(context: Context): Promise<void> {
  const { organisationId, env } = await loadConsole(context, 'view')
  const requested = { organisationId, env, family: null, from: null, to: null, after: null, limit: MAX_ROWS }
  const rows = await listUsage(context.deps.db, requested)
  const lines = rows.map(({ date, family, units }) => `${date},${family},${units}`)
  context.response
    .set('Content-Type', 'text/csv; charset=utf-8')
    .set('Content-Disposition', `attachment; filename="usage-${env.toLowerCase()}.csv"`)
    .end(`${['date,family,units', ...lines].join('\n')}\n`)
}

function FamilyTable(props: { families: readonly FamilyUsage[]; days: readonly UsageRow[]; today: Micros }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="card table-card scroll" tabIndex={0} aria-label="Units per family">
      <table class="plain-table units stacked">
        <thead>
          <tr>
            <th scope="col">Family</th>
            <th scope="col">Last {BARS} days</th>
            <th scope="col">Today (UTC)</th>
            <th scope="col">This month</th>
            <th scope="col">{BARS} days</th>
            <th scope="col">In all</th>
          </tr>
        </thead>
        <tbody>
          {props.families.map(({ family, today, monthToDate, month, total }) => (
            <tr key={family}>
              <th scope="row">
                {familyName(family)}
                <small class="mono">{family}</small>
              </th>
              <td>
                <UnitBars units={unitsByDay(props.days, family, props.today)} />
              </td>
              <td class="figure" data-label="Today (UTC)">
                {today}
              </td>
              <td class="figure" data-label="This month">
                {monthToDate}
              </td>
              <td class="figure" data-label={`${BARS} days`}>
                {month}
              </td>
              <td class="figure" data-label="In all">
                {total}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Units of each of the last days, oldest first. */
function unitsByDay(days: readonly UsageRow[], family: string, now: Micros): number[] {
  const units = new Map(days.filter((day) => day.family === family).map((day) => [day.date, Number(day.units)]))
  return Array.from({ length: BARS }, (_, index) => {
    const day = toDate(now)
    day.setUTCDate(day.getUTCDate() + index + 1 - BARS)
    return units.get(day.toISOString().slice(0, 10)) ?? 0
  })
}

/** As high as each day was busy: a day without units keeps a line, so that days can be counted. */
function UnitBars({ units }: { units: readonly number[] }) {
  const most = Math.max(1, ...units)
  const bars = units.map((count, index) => {
    const height = count === 0 ? 1 : Math.max(3, Math.round((count / most) * 24))
    return `M${index * 5} ${26 - height}h4v${height}h-4z`
  })
  return (
    <svg
      class="unit-bars"
      viewBox={`0 0 ${BARS * 5} 26`}
      role="img"
      aria-label={`At most ${most} ${most === 1 ? 'unit' : 'units'} a day`}
    >
      <path d={bars.join('')} />
    </svg>
  )
}

function DayTable({ days }: { days: readonly UsageRow[] }) {
  return (
    <details class="more">
      <summary>Day by day</summary>
      <section class="card table-card">
        <table class="plain-table units">
          <caption class="hidden">Units per day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Family</th>
              <th scope="col">Units</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ date, family, units }) => (
              <tr key={`${date} ${family}`}>
                <th scope="row">{dayText(date)}</th>
                <td>{familyName(family)}</td>
                <td class="figure">{units}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}
