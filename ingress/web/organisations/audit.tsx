import { type ListedAudit, listAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { microsOfDate } from '#shared/time.ts'
import { SelectField, TextField } from '../components/form.tsx'
import { Exact } from '../components/time.tsx'
import type { Context, Pages } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openOrganisation } from '../frame/workspace.ts'
import { type AuditPart, auditParts, auditWords, isAuditPart, nounsOf } from './audit-words.ts'

const PAGE_SIZE = 100

/** What of the log is asked for. */
interface Asked {
  part: AuditPart | null
  text: string
  /** id that entries are older than */
  before: number | null
}

/** Who did what in an organisation, newest first. */
export function auditPages(pages: Pages): void {
  pages.get('/organisations/:organisation/audit', async (context) => {
    const opened = await openOrganisation(context, 'manage')
    const { organisation } = opened
    const asked = askedFor(context)
    const filter = { nouns: asked.part === null ? null : nounsOf(asked.part), text: asked.text }
    const entries = await listAudit(context.deps.db, organisation.organisationId, {
      ...filter,
      beforeId: asked.before,
      limit: PAGE_SIZE,
    })
    const project = opened.projects.find(({ organisationId }) => organisationId === organisation.organisationId)
    const path = `/organisations/${organisation.organisationUuid}/audit`
    sendPage(
      context,
      { title: 'Audit log', workspace: opened, ...(project && { project }), area: 'audit' },
      <>
        <h1>Audit log of {organisation.organisationName}</h1>
        <Filters path={path} asked={asked} />
        {entries.length === 0 && <p class="empty">{isFiltered(asked) ? 'No entry fits.' : 'No entries yet.'}</p>}
        {entries.length > 0 && <Entries entries={entries} />}
        <nav class="pager" aria-label="Pages">
          {asked.before !== null && <a href={addressOf(path, asked, null)}>Newest</a>}
          {entries.length === PAGE_SIZE && (
            <a href={addressOf(path, asked, entries.at(-1)?.id ?? null)} rel="next">
              Older
            </a>
          )}
        </nav>
      </>,
    )
  })
}

function askedFor({ query }: Context): Asked {
  const part = query.get('part') ?? ''
  const before = Number(query.get('before') ?? Number.NaN)
  return {
    part: isAuditPart(part) ? part : null,
    text: (query.get('q') ?? '').toWellFormed().replaceAll('\0', '').trim().slice(0, 100),
    before: Number.isSafeInteger(before) ? before : null,
  }
}

const isFiltered = ({ part, text }: Asked) => part !== null || text !== ''

function addressOf(path: string, { part, text }: Asked, before: number | null): string {
  const query = new URLSearchParams({
    ...(part !== null && { part }),
    ...(text !== '' && { q: text }),
    ...(before !== null && { before: String(before) }),
  })
  return query.size === 0 ? path : `${path}?${query}`
}

function Filters({ path, asked }: { path: string; asked: Asked }) {
  return (
    <form method="get" action={path} class="inline-fields audit-filter" aria-label="Filter">
      <SelectField
        label="About"
        name="part"
        value={asked.part ?? ''}
        options={[{ value: '', label: 'Everything' }, ...auditParts]}
      />
      <TextField label="Who, to what, or from where" name="q" value={asked.text} maxLength={100} />
      <button type="submit">Show</button>
      {isFiltered(asked) && <a href={path}>Clear</a>}
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
                  {auditWords(entry.action)}
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
