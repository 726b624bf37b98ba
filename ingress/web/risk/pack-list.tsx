import { z } from 'zod'
import type { SignalLevel } from '#shared/risk/packs/pack-schema.ts'
import { inrFigure } from '#shared/risk/packs/pdf/figures.ts'
import { countTiers } from '#shared/risk/packs/pdf/tiers.ts'
import { listPackSubjects, listPacks, type PackListing, type PackSubject } from '#shared/risk/packs/store.ts'
import { decodeCursor, encodeCursor, paged } from '../../paging.ts'
import { Ago } from '../components/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, loadConsole, mayIn, sendConsole } from './console.tsx'
import { TierBar } from './tiers.tsx'

const PAGE_SIZE = 50
const Cursor = z.tuple([z.int(), z.uuid()])

/** The packs of an organisation, newest first; two of them can be compared. */
export function packListPages(pages: Pages): void {
  pages.get(`${CONSOLE}/packs`, showPacks)
}

async function showPacks(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const cursor = decodeCursor(context.query.get('cursor') ?? undefined, Cursor)
  const level = LEVELS.find((one) => one === context.query.get('level')) ?? null
  const before = cursor && { micros: cursor[0], id: cursor[1] }
  const rows = await listPacks(db, console, before, PAGE_SIZE + 1, level)
  const { page, nextCursor } = paged(rows, PAGE_SIZE, ({ micros, packId }) => encodeCursor([micros, packId]))
  const subjects = await listPackSubjects(
    db,
    page.map(({ packId }) => packId),
  )
  const mayMake = console.env === 'SANDBOX' && mayIn(console, 'edit')
  sendConsole(
    context,
    console,
    { title: 'Packs', area: 'packs' },
    <>
      <div class="page-head">
        <h1>Packs</h1>
        {mayMake && (
          <a class="button primary" href={`${console.base}/packs/new`}>
            New pack
          </a>
        )}
      </div>
      <LevelFilter path={`${console.base}/packs`} level={level} />
      {page.length === 0 && level !== null && <p class="empty">No pack has this level.</p>}
      {page.length === 0 && level === null && (
        <p class="empty">
          No pack yet. {console.env === 'SANDBOX' ? 'A new one takes a second.' : 'They are requested through the API.'}
        </p>
      )}
      {page.length > 0 && (
        <form method="get" action={`${console.base}/compare`}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section class="card table-card scroll" tabIndex={0} aria-label="Packs">
            <PackTable packs={page} subjects={subjects} base={console.base} now={now()} />
          </section>
          <p class="foot">
            <button type="submit">Compare two</button>
          </p>
        </form>
      )}
      <nav class="pager" aria-label="Pages">
        {cursor && <a href={`${console.base}/packs${level === null ? '' : `?level=${level}`}`}>Newest</a>}
        {nextCursor !== null && (
          <a rel="next" href={`${console.base}/packs?${level === null ? '' : `level=${level}&`}cursor=${nextCursor}`}>
            Older
          </a>
        )}
      </nav>
    </>,
  )
}

const LEVELS = ['CLEAR', 'INCOMPLETE', 'ATTENTION', 'CONFLICTED'] as const

function LevelFilter({ path, level }: { path: string; level: SignalLevel | null }) {
  return (
    <ul class="chips small" aria-label="Signal level">
      <li>
        <a href={path} aria-current={level === null ? 'true' : undefined}>
          All
        </a>
      </li>
      {LEVELS.map((one) => (
        <li key={one}>
          <a href={`${path}?level=${one}`} aria-current={level === one ? 'true' : undefined}>
            {one.toLowerCase()}
          </a>
        </li>
      ))}
    </ul>
  )
}

function orderOf(subject: PackSubject | undefined): string {
  return subject ? inrFigure(subject.valueInr) : '—'
}

/** The level says what it is in words; the colour leads the eye. */
const LEVEL_CLASSES: Readonly<Record<string, string>> = {
  CLEAR: 'good',
  INCOMPLETE: 'late',
  ATTENTION: 'late',
  CONFLICTED: 'bad',
}

function PackTable(props: {
  packs: readonly (PackListing & { micros: number })[]
  subjects: ReadonlyMap<string, PackSubject>
  base: string
  now: number
}) {
  return (
    <table class="plain-table wide-table stacked">
      <thead>
        <tr>
          <th scope="col">Compare</th>
          <th scope="col">Pack</th>
          <th scope="col">Buyer</th>
          <th scope="col" class="number">
            Order
          </th>
          <th scope="col">Deal</th>
          <th scope="col">Signal level</th>
          <th scope="col">Evidence</th>
          <th scope="col">Requested</th>
        </tr>
      </thead>
      <tbody>
        {props.packs.map(({ packId, dealId, signalLevel, status, micros }) => (
          <tr key={packId}>
            <td>
              {status === 'READY' && (
                <input type="checkbox" name="pack" value={packId} aria-label={`Compare ${packId}`} />
              )}
            </td>
            <td>
              <a class="mono" href={`${props.base}/packs/${packId}`} title={packId}>
                {packId.slice(0, 8)}
              </a>
            </td>
            <td class="mono" data-label="Buyer">
              {props.subjects.get(packId)?.buyer ?? '—'}
            </td>
            <td class="number figure" data-label="Order">
              {orderOf(props.subjects.get(packId))}
            </td>
            <td class="breakable" data-label="Deal">
              {dealId ?? '—'}
            </td>
            <td>
              <span class={`pill ${signalLevel === null ? '' : LEVEL_CLASSES[signalLevel]}`}>
                {signalLevel ?? (status === 'FAILED' ? 'failed' : 'being composed')}
              </span>
            </td>
            <td data-label="Evidence">
              <TierBar tiers={countTiers(props.subjects.get(packId)?.tiers ?? [])} />
            </td>
            <td>
              <Ago at={micros} now={props.now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
