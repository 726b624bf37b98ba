import { inrFigure } from '#shared/risk/packs/pdf/figures.ts'
import { countTiers } from '#shared/risk/packs/pdf/tiers.ts'
import { listPackSubjects, listPacks, type PackListing, type PackSubject } from '#shared/risk/packs/store.ts'
import type { Micros } from '#shared/time.ts'
import { type Column, FilterChips } from '../lists/list.tsx'
import { readByTime } from '../lists/paging.ts'
import { Ago } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, loadConsole, sendList } from './console.tsx'
import { TierBar } from './tiers.tsx'

export function packListPages(pages: Pages): void {
  pages.get(`${CONSOLE}/packs`, showPacks)
}

async function showPacks(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const level = LEVELS.find((one) => one === context.query.get('level')) ?? null
  const { rows, pages } = await readByTime(
    context,
    (before, limit) => listPacks(db, console, before, limit, level),
    ({ packId }) => packId,
  )
  const subjects = await listPackSubjects(
    db,
    rows.map(({ packId }) => packId),
  )
  const isSandbox = console.env === 'SANDBOX'
  const path = `${console.base}/packs`
  const none = isSandbox ? (
    'No pack yet. A new one takes about a second.'
  ) : (
    <p class="empty">
      No packs in production yet. A program requests them with <code>POST /v1/po/risk-signals</code>, as a{' '}
      <a href={`${console.base}/clients`}>client</a>.
    </p>
  )
  sendList(context, console, {
    title: 'Packs',
    area: 'packs',
    path: '/packs',
    actions: isSandbox ? [['/new', 'New pack']] : [],
    intro: (
      <>
        <p class="muted">
          Evidence about a purchase order, from registries. Received one by mail? <a href="/verify">Verify a pack</a>.
        </p>
        <FilterChips label="Signal level" path={path} name="level" values={LEVELS} chosen={level} />
      </>
    ),
    filters: { level },
    variant: 'wide-table stacked',
    columns: packColumns(path, subjects, now()),
    rows,
    empty: level === null ? none : 'No pack has this level.',
    pages,
    wrap: (table) => (
      <form method="get" action={`${console.base}/compare`}>
        {table}
        <p class="foot">
          <button type="submit">Compare two</button>
        </p>
      </form>
    ),
  })
}

const LEVELS = ['CLEAR', 'INCOMPLETE', 'ATTENTION', 'CONFLICTED'] as const

/** The text names the level too. */
const LEVEL_CLASSES: Readonly<Record<string, string>> = {
  CLEAR: 'good',
  INCOMPLETE: 'late',
  ATTENTION: 'late',
  CONFLICTED: 'bad',
}

export function LevelPill({ level }: { level: string }) {
  return <span class={`pill ${LEVEL_CLASSES[level] ?? ''}`}>{level}</span>
}

function packColumns(
  path: string,
  subjects: ReadonlyMap<string, PackSubject>,
  now: Micros,
): Column<PackListing & { micros: Micros }>[] {
  return [
    {
      title: 'Compare',
      cell: ({ packId, status }) =>
        status === 'READY' && <input type="checkbox" name="pack" value={packId} aria-label={`Compare ${packId}`} />,
    },
    {
      title: 'Pack',
      cell: ({ packId }) => (
        <a class="mono" href={`${path}/${packId}`} title={packId}>
          {packId.slice(0, 8)}
        </a>
      ),
    },
    {
      title: 'Borrower',
      variant: 'mono',
      isLabelled: true,
      cell: ({ packId }) => subjects.get(packId)?.borrower ?? '—',
    },
    { title: 'Buyer', variant: 'mono', isLabelled: true, cell: ({ packId }) => subjects.get(packId)?.buyer ?? '—' },
    {
      title: 'Order',
      isNumber: true,
      isLabelled: true,
      cell: ({ packId }) => {
        const subject = subjects.get(packId)
        return subject ? inrFigure(subject.valueInr) : '—'
      },
    },
    { title: 'Deal', variant: 'breakable', isLabelled: true, cell: ({ dealId }) => dealId ?? '—' },
    {
      title: 'Signal level',
      cell: ({ signalLevel, status }) =>
        signalLevel === null ? (
          <span class="pill">{status === 'FAILED' ? 'failed' : 'being composed'}</span>
        ) : (
          <LevelPill level={signalLevel} />
        ),
    },
    {
      title: 'Evidence',
      isLabelled: true,
      cell: ({ packId }) => <TierBar tiers={countTiers(subjects.get(packId)?.tiers ?? [])} />,
    },
    { title: 'Requested', cell: ({ micros }) => <Ago at={micros} now={now} /> },
  ]
}
