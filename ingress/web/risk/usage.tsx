import { listUsage, type UsageRow } from '#shared/risk/metering/store.ts'
import { dayText } from '#shared/risk/packs/pdf/figures.ts'
import { type FamilyUsage, usageByFamily } from '#shared/risk/risk-console/store.ts'
import type { Family } from '#shared/tenancy/oauth/families.ts'
import { type Micros, toDate } from '#shared/time.ts'
import { EmptyCard } from '../lists/empty-card.tsx'
import { type Column, PageHead, Table } from '../lists/list.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from './console.tsx'
import { familyName } from './family-names.ts'

/** 30 days of ten families */
const MAX_DAY_ROWS = 300
/** One bar per day, including today. */
const BARS = 30

/** Pages of metered units: successful calls that produced evidence; imports and lists count several units. */
export function usagePages(pages: Pages): void {
  pages.get(`${CONSOLE}/usage`, showUsage)
  pages.get(`${CONSOLE}/usage.csv`, sendUsage)
}

async function showUsage(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { organisationId, env } = console
  const { deps } = context
  const { db } = deps
  const scope = { organisationId, env, family: null, from: null, to: null, after: null, limit: MAX_DAY_ROWS }
  const [families, days] = await Promise.all([usageByFamily(db, console), listUsage(db, scope)])
  const download = { href: `${console.base}/usage.csv`, label: 'Download as CSV', isSecondary: true }
  sendConsole(
    context,
    console,
    { title: 'Usage', area: 'usage' },
    <>
      <PageHead title="Usage" actions={days.length > 0 ? [download] : []} />
      <p class="muted">
        A unit is counted when a call creates evidence. Reads, errors and repetitions of a call are free.
      </p>
      {families.length === 0 ? <NoUnits console={console} /> : <p>{sumText(families)}</p>}
      <Table
        label="Units per family"
        variant="units stacked"
        columns={familyColumns(days, deps.now())}
        rows={families}
      />
      {days.length > 0 && (
        <details class="more">
          <summary>Day by day</summary>
          <Table label="Units per day" variant="units" columns={DAY_COLUMNS} rows={days} />
        </details>
      )}
      <details class="more">
        <summary>What counts as a unit?</summary>
        <Table label="Units" variant="stacked" columns={UNIT_COLUMNS} rows={UNITS} />
      </details>
    </>,
  )
}

/** For example `12 units this month, 2 of them today (UTC).` */
function sumText(families: readonly FamilyUsage[]): string {
  const sum = (of: 'monthToDate' | 'today') => families.reduce((total, family) => total + Number(family[of]), 0)
  const month = sum('monthToDate')
  const unit = month === 1 ? 'unit' : 'units'
  return `${month.toLocaleString('en')} ${unit} this month, ${sum('today').toLocaleString('en')} of them today (UTC).`
}

function NoUnits({ console }: { console: Console }) {
  const isSandbox = console.env === 'SANDBOX'
  const request = mayIn(console, 'edit') && { label: 'Request a sandbox pack', href: `${console.base}/packs/new` }
  return (
    <EmptyCard
      title={`No units in ${isSandbox ? 'the sandbox' : 'production'} yet`}
      action={isSandbox ? request : { label: 'See the clients', href: `${console.base}/clients` }}
    >
      <p>
        {isSandbox
          ? 'The first pack appears here as one unit. Units of the sandbox and of production are separate.'
          : 'Programs create evidence as a client of the API. Each call appears here on its day.'}
      </p>
    </EmptyCard>
  )
}

/** See docs/spec/risk-signals.md#metering. */
const UNITS: readonly (readonly [family: Family, unit: string])[] = [
  ['risk-signals', 'a pack; a dilution answer, once per pair of parties and Indian day'],
  ['identity', 'a verified presentation, a verification, a passport'],
  ['kyb', 'a verification, an LEI record that was found, a passport'],
  ['first-financing', 'a check, a registration, a transfer that was accepted, an absence proof'],
  ['acceptance', 'a record, an adjustment, an answer of a buyer'],
  ['trade', 'a verification, a pack'],
  ['colending', 'each begun 1,000 accepted rows of an import, an event of a loan system'],
  ['securitisation', 'a recorded receivable, a cut of a pool'],
]

const UNIT_COLUMNS: Column<(typeof UNITS)[number]>[] = [
  { title: 'Family', isHeading: true, cell: ([family]) => familyName(family) },
  { title: 'One unit is', cell: ([, unit]) => unit },
]

/** 27 years of daily rows of ten families. */
const MAX_ROWS = 100_000

/** The CSV needs no escaping, because it contains no text of users. */
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

function familyColumns(days: readonly UsageRow[], now: Micros): Column<FamilyUsage>[] {
  const figure = { variant: 'figure', isLabelled: true }
  return [
    {
      title: 'Family',
      isHeading: true,
      cell: ({ family }) => (
        <>
          {familyName(family)}
          <small class="mono">{family}</small>
        </>
      ),
    },
    { title: `Last ${BARS} days`, cell: ({ family }) => <UnitBars units={unitsByDay(days, family, now)} /> },
    { title: 'Today (UTC)', ...figure, cell: ({ today }) => today },
    { title: 'This month', ...figure, cell: ({ monthToDate }) => monthToDate },
    { title: `${BARS} days`, ...figure, cell: ({ month }) => month },
    { title: 'Total', ...figure, cell: ({ total }) => total },
  ]
}

function unitsByDay(days: readonly UsageRow[], family: string, now: Micros): number[] {
  const units = new Map(days.filter((day) => day.family === family).map((day) => [day.date, Number(day.units)]))
  return Array.from({ length: BARS }, (_, index) => {
    const day = toDate(now)
    day.setUTCDate(day.getUTCDate() + index + 1 - BARS)
    return units.get(day.toISOString().slice(0, 10)) ?? 0
  })
}

/** A day without units gets a bar of height 1, so that days can be counted. */
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
      aria-label={
        units.some((count) => count > 0) ? `At most ${most} ${most === 1 ? 'unit' : 'units'} a day` : 'No units'
      }
    >
      <path d={bars.join('')} />
    </svg>
  )
}

const DAY_COLUMNS: Column<UsageRow>[] = [
  { title: 'Day', isHeading: true, cell: ({ date }) => dayText(date) },
  { title: 'Family', cell: ({ family }) => familyName(family) },
  { title: 'Units', variant: 'figure', cell: ({ units }) => units },
]
