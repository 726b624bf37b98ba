import type { Knex } from 'knex'
import {
  type Entity,
  findByIdentifierValue,
  findEntity,
  listEntities,
  summariseEntities,
} from '#shared/risk/businesses/store.ts'
import { normaliseUpper } from '#shared/risk/identifiers/identifier.ts'
import { veiError } from '#shared/risk/identifiers/vei.ts'
import { microsOfDate } from '#shared/time.ts'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { MonoLink } from '../../lists/list.tsx'
import { readByTime } from '../../lists/paging.ts'
import { Ago } from '../../shell/basics.tsx'
import { type Context, redirect } from '../../shell/context.ts'
import { Problem } from '../../shell/notice.tsx'
import { NextAction } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendList } from '../console.tsx'
import { ChecksResult, entityName, identifierName, mainIdentifier } from './entity-name.tsx'
import type { Verification } from './parts.tsx'

export async function showBusinesses(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const requested = (context.query.get('q') ?? '').trim().slice(0, 200)
  const found = requested === '' ? undefined : await search(db, console, requested)
  if (found) return redirect(context, `${console.base}/businesses/${found}`)
  const base = `${console.base}/businesses`
  sendList(context, console, {
    title: 'Businesses',
    area: 'businesses',
    path: '/businesses',
    actions: [['/verify', 'Verify a business']],
    variant: 'wide-table stacked',
    intro: (
      <>
        <p class="muted">
          Businesses that you verified at registries. All registration numbers of a business lead to one entity
          identifier.
        </p>
        <form method="get" action={base} class="row">
          <label for="q">GSTIN, CIN, PAN or another identifier</label>
          <input id="q" name="q" value={requested} maxLength={200} autocomplete="off" class="mono" />
          <button type="submit">Find</button>
        </form>
        <Problem text={requested !== '' && 'No business with this identifier was verified here.'} />
        {requested !== '' && mayIn(console, 'edit') && (
          <NextAction
            context={context}
            text="Verify it at the registries."
            actions={[{ href: `${base}/verify${verifyQuery(requested)}`, label: 'Verify this business' }]}
          />
        )}
      </>
    ),
    columns: [
      {
        title: 'Business',
        variant: 'breakable',
        cell: ({ vei, ...entity }) => <a href={`${base}/${vei}`}>{entityName(entity)}</a>,
      },
      { title: 'Other identifiers', isLabelled: true, variant: 'breakable', cell: (row) => otherIdentifiers(row) },
      { title: 'Newest verification', cell: ({ newest }) => <ChecksResult checks={newest?.checks ?? []} /> },
      {
        title: 'Verified',
        isLabelled: true,
        cell: ({ newest }) => (newest ? <Ago at={microsOfDate(new Date(newest.timestamp))} now={now()} /> : '—'),
      },
      {
        title: 'Entity identifier',
        isLabelled: true,
        cell: ({ vei }) => <MonoLink href={`${base}/${vei}`} text={vei} />,
      },
    ],
    empty: <NoBusinesses console={console} />,
    ...(await readByTime(
      context,
      (before, limit) => listSummaries(db, console, before, limit),
      ({ id }) => id,
    )),
  })
}

interface Summary extends Entity {
  micros: number
  identifiers: { type: string; value: string }[]
  newest: Verification | null
}

async function listSummaries(db: Knex, console: Console, ...page: [Before, number]): Promise<Summary[]> {
  const entities = await listEntities(db, console, ...page)
  const summaries = await summariseEntities(
    db,
    entities.map(({ id }) => id),
  )
  return entities.map((entity) => {
    const { identifiers = [], newest = null } = summaries.get(entity.id) ?? {}
    // Stored as we anchored it.
    return { ...entity, identifiers, newest: newest === null ? null : (JSON.parse(newest) as Verification) }
  })
}

type Before = Parameters<typeof listEntities>[2]

function otherIdentifiers({ isPerson, identifiers }: Summary): string {
  if (isPerson) return 'not shown for persons'
  const others = identifiers.filter((one) => one !== mainIdentifier(identifiers))
  return others.map(({ type, value }) => `${identifierName(type)} ${value}`).join(', ') || '—'
}

/** Prefills the form, instead of its sample values, if the identifier shows its type. */
function verifyQuery(requested: string): string {
  const value = normaliseUpper(requested)
  const type = /^[0-9]{2}[A-Z]{5}/.test(value) ? 'gstin' : /^[LU][0-9]{5}/.test(value) ? 'cin' : undefined
  if (type === undefined) return ''
  const others = ['gstin', 'cin', 'legalName'].filter((name) => name !== type)
  return `?${new URLSearchParams([[type, value], ...others.map((name) => [name, ''])])}`
}

function NoBusinesses({ console }: { console: Console }) {
  return (
    <EmptyCard
      title="No businesses yet"
      action={
        mayIn(console, 'edit') && { label: 'Verify the first business', href: `${console.base}/businesses/verify` }
      }
    >
      <ol>
        <li>Enter one identifier, for example a GSTIN or a CIN.</li>
        <li>Signalbox queries the registries and compares their answers.</li>
        <li>Issue a passport with the results, for others to verify.</li>
      </ol>
    </EmptyCard>
  )
}

/** Finds an entity by our identifier or by one of a registry. */
async function search(db: Knex, console: Console, requested: string): Promise<string | undefined> {
  const value = normaliseUpper(requested)
  const entity =
    (veiError(value) === null && (await findEntity(db, console, value))) ||
    (await findByIdentifierValue(db, console, value))
  return entity?.vei
}
