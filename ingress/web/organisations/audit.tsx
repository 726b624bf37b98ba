import { type ListedAudit, listAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { microsOfDate } from '#shared/time.ts'
import { SelectField, TextField } from '../forms/inputs.tsx'
import { type Column, ListPage } from '../lists/list.tsx'
import { readById } from '../lists/paging.ts'
import { Exact } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { requireOrganisation } from '../shell/workspace.ts'
import { type AuditPart, auditLabels, auditParts, isAuditPart, nounsOf } from './audit-labels.ts'

const PAGE_SIZE = 100

interface Requested {
  part: AuditPart | null
  text: string
}

export function auditPages(pages: Pages): void {
  pages.get('/organisations/:organisation/audit', async (context) => {
    const opened = await requireOrganisation(context, 'manage')
    const { organisationId, organisationUuid, organisationName } = opened.organisation
    const requested = readFilter(context)
    const { part, text } = requested
    const nouns = part === null ? null : nounsOf(part)
    const entries = await readById(
      context,
      PAGE_SIZE,
      (beforeId, limit) => listAudit(context.deps.db, organisationId, { nouns, text, beforeId, limit }),
      ({ id }) => id,
    )
    const path = `/organisations/${organisationUuid}/audit`
    sendPage(
      context,
      { title: 'Audit log', workspace: opened, area: 'audit' },
      <ListPage
        title={`Audit log of ${organisationName}`}
        label="Entries"
        path={path}
        filters={{ part, q: text }}
        intro={<Filters path={path} requested={requested} />}
        variant="stacked"
        columns={ENTRY_COLUMNS}
        empty={isFiltered(requested) ? 'No entry matches.' : 'No entries yet.'}
        {...entries}
      />,
    )
  })
}

function readFilter({ query }: Context): Requested {
  const part = query.get('part') ?? ''
  return {
    part: isAuditPart(part) ? part : null,
    text: (query.get('q') ?? '').toWellFormed().replaceAll('\0', '').trim().slice(0, 100),
  }
}

const isFiltered = ({ part, text }: Requested) => part !== null || text !== ''

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

const ENTRY_COLUMNS: Column<ListedAudit>[] = [
  { title: 'When (UTC)', isLabelled: true, cell: ({ at }) => <Exact at={microsOfDate(at)} /> },
  { title: 'Who', variant: 'breakable', isLabelled: true, cell: ({ actor }) => actor },
  {
    title: 'Action',
    isLabelled: true,
    cell: ({ action }) => (
      <span class={action === 'request.denied' ? 'pill bad' : undefined} title={action}>
        {auditLabels(action)}
      </span>
    ),
  },
  { title: 'Object', variant: 'breakable', isLabelled: ({ target }) => target !== '', cell: ({ target }) => target },
  { title: 'Address', isLabelled: ({ address }) => address !== '', cell: ({ address }) => address },
]
