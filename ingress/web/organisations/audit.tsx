import { type ListedAudit, listAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { microsOfDate } from '#shared/time.ts'
import { Exact } from '../components/basics.tsx'
import { SelectField, TextField } from '../components/form.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { requireOrganisation } from '../shell/workspace.ts'
import { type AuditPart, auditLabels, auditParts, isAuditPart, nounsOf } from './audit-labels.ts'

const PAGE_SIZE = 100

/** What of the log is asked for. */
interface Requested {
  part: AuditPart | null
  text: string
  /** id that entries are older than */
  before: number | null
}

/** Who did what in an organisation, newest first. */
export function auditPages(pages: Pages): void {
  pages.get('/organisations/:organisation/audit', async (context) => {
    const opened = await requireOrganisation(context, 'manage')
    const { organisation } = opened
    const requested = readFilter(context)
    const filter = { nouns: requested.part === null ? null : nounsOf(requested.part), text: requested.text }
    const entries = await listAudit(context.deps.db, organisation.organisationId, {
      ...filter,
      beforeId: requested.before,
      limit: PAGE_SIZE,
    })
    const project = opened.projects.find(({ organisationId }) => organisationId === organisation.organisationId)
    const path = `/organisations/${organisation.organisationUuid}/audit`
    sendPage(
      context,
      { title: 'Audit log', workspace: opened, ...(project && { project }), area: 'audit' },
      <>
        <h1>Audit log of {organisation.organisationName}</h1>
        <Filters path={path} requested={requested} />
        {entries.length === 0 && <p class="empty">{isFiltered(requested) ? 'No entry fits.' : 'No entries yet.'}</p>}
        {entries.length > 0 && <Entries entries={entries} />}
        <nav class="pager" aria-label="Pages">
          {requested.before !== null && <a href={addressOf(path, requested, null)}>Newest</a>}
          {entries.length === PAGE_SIZE && (
            <a href={addressOf(path, requested, entries.at(-1)?.id ?? null)} rel="next">
              Older
            </a>
          )}
        </nav>
      </>,
    )
  })
}

function readFilter({ query }: Context): Requested {
  const part = query.get('part') ?? ''
  const before = Number(query.get('before') ?? Number.NaN)
  return {
    part: isAuditPart(part) ? part : null,
    text: (query.get('q') ?? '').toWellFormed().replaceAll('\0', '').trim().slice(0, 100),
    before: Number.isSafeInteger(before) ? before : null,
  }
}

const isFiltered = ({ part, text }: Requested) => part !== null || text !== ''

function addressOf(path: string, { part, text }: Requested, before: number | null): string {
  const query = new URLSearchParams({
    ...(part !== null && { part }),
    ...(text !== '' && { q: text }),
    ...(before !== null && { before: String(before) }),
  })
  return query.size === 0 ? path : `${path}?${query}`
}

function Filters({ path, requested }: { path: string; requested: Requested }) {
  return (
    <form method="get" action={path} class="inline-fields audit-filter" aria-label="Filter">
      <SelectField
        label="About"
        name="part"
        value={requested.part ?? ''}
        options={[{ value: '', label: 'Everything' }, ...auditParts]}
      />
      <TextField label="Who, to what, or from where" name="q" value={requested.text} maxLength={100} />
      <button type="submit">Show</button>
      {isFiltered(requested) && <a href={path}>Clear</a>}
    </form>
  )
}

function Entries({ entries }: { entries: readonly ListedAudit[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="card table-card scroll" tabIndex={0} aria-label="Entries">
      <table class="plain-table stacked">
        <thead>
          <tr>
            <th scope="col">When (UTC)</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">To what</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td>
                <Exact at={microsOfDate(entry.at)} />
              </td>
              <td class="breakable">{entry.actor}</td>
              <td>
                <span class={entry.action === 'request.denied' ? 'pill bad' : undefined} title={entry.action}>
                  {auditLabels(entry.action)}
                </span>
              </td>
              <td class="breakable">{entry.target}</td>
              <td>{entry.address}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
