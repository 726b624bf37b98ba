import { z } from 'zod'
import { listPacks, type PackListing } from '#shared/risk/packs/store.ts'
import { paged } from '../../paging.ts'
import { decodeCursor, encodeCursor } from '../../risk/paging.ts'
import { Ago } from '../components/time.tsx'
import type { Context, Pages } from '../frame/context.ts'
import { CONSOLE, mayIn, openConsole, sendConsole } from './console.tsx'

const PAGE_SIZE = 50
const Cursor = z.tuple([z.int(), z.uuid()])

/** The packs of an organisation, newest first; two of them can be compared. */
export function packListPages(pages: Pages): void {
  pages.get(`${CONSOLE}/packs`, showPacks)
}

async function showPacks(context: Context): Promise<void> {
  const console = await openConsole(context, 'view')
  const { db, now } = context.deps
  const cursor = decodeCursor(context.query.get('cursor') ?? undefined, Cursor)
  const rows = await listPacks(db, console, cursor && { micros: cursor[0], id: cursor[1] }, PAGE_SIZE + 1)
  const { page, nextCursor } = paged(rows, PAGE_SIZE, ({ micros, packId }) => encodeCursor([micros, packId]))
  const mayMake = console.env === 'SANDBOX' && mayIn(console, 'edit')
  sendConsole(
    context,
    console,
    { title: 'Packs', tab: 'packs' },
    <>
      <div class="page-head">
        <h1>Packs</h1>
        {mayMake && (
          <a class="button primary" href={`${console.base}/packs/new`}>
            New pack
          </a>
        )}
      </div>
      {page.length === 0 ? (
        <p class="empty">
          No pack yet. {console.env === 'SANDBOX' ? 'A new one takes a second.' : 'They are requested through the API.'}
        </p>
      ) : (
        <form method="get" action={`${console.base}/compare`}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section class="card table-card scroll" tabIndex={0} aria-label="Packs">
            <PackTable packs={page} base={console.base} now={now()} />
          </section>
          <p class="foot">
            <button type="submit">Compare two</button>
          </p>
        </form>
      )}
      <nav class="pager" aria-label="Pages">
        {cursor && <a href={`${console.base}/packs`}>Newest</a>}
        {nextCursor !== null && (
          <a rel="next" href={`${console.base}/packs?cursor=${nextCursor}`}>
            Older
          </a>
        )}
      </nav>
    </>,
  )
}

function PackTable(props: { packs: readonly (PackListing & { micros: number })[]; base: string; now: number }) {
  return (
    <table class="plain-table wide-table">
      <thead>
        <tr>
          <th scope="col">Compare</th>
          <th scope="col">Pack</th>
          <th scope="col">Deal</th>
          <th scope="col">Signal level</th>
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
              <a class="mono" href={`${props.base}/packs/${packId}`}>
                {packId}
              </a>
            </td>
            <td class="breakable">{dealId ?? '—'}</td>
            <td>{signalLevel ?? <span class="pill">{status === 'FAILED' ? 'failed' : 'being composed'}</span>}</td>
            <td>
              <Ago at={micros} now={props.now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
