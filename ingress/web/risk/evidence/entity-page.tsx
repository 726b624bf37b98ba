import { type EntityPassport, listEntityPassports } from '#shared/risk/businesses/passport-store.ts'
import { type Entity, listAliases, listEntityRecords, listIdentifiers } from '#shared/risk/businesses/store.ts'
import { requireEntity } from '#shared/risk/operations/business-requests.ts'
import { microsOfDate } from '#shared/time.ts'
import { type Column, type PageAction, PageHead, Table } from '../../lists/list.tsx'
import { Ago, Fact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { Checks, type Verification } from './parts.tsx'
import { proveRecord, RecordAnchors } from './record-anchor.tsx'

/** Maximum objects of each kind. */
const SHOWN = 10

/** Omits identifiers of persons and names of owners. */
export async function showEntity(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config } = context.deps
  const entity = await requireEntity(db, console, context.params.vei ?? '')
  const [identifiers, aliases, ...lists] = await Promise.all([
    listIdentifiers(db, entity.id),
    listAliases(db, entity.id),
    ...(['VERIFICATION', 'MEMBERSHIP', 'OWNERS'] as const).map((kind) => listEntityRecords(db, entity.id, kind, SHOWN)),
  ])
  const passports = await listEntityPassports(db, entity.id, SHOWN)
  const [passport] = passports
  // Stored as we anchored them.
  const [verifications = [], memberships = [], owners = []] = lists.map((list) =>
    list.map(({ body }) => JSON.parse(body)),
  )
  const latest: Verification | undefined = verifications[0]
  const newest = await Promise.all(
    [latest, memberships[0], owners[0], passport && JSON.parse(passport.revocation ?? passport.body)].flatMap(
      (record) => (record ? [proveRecord(db, record)] : []),
    ),
  )
  sendConsole(
    context,
    console,
    { title: 'Business', area: 'businesses' },
    <>
      <PageHead
        title="Business"
        actions={mayIn(console, 'edit') ? actionsOf(`${console.base}/businesses/${entity.vei}`, entity) : []}
      />
      <dl class="facts">
        <Fact title="Entity identifier">
          <span class="mono">{entity.vei}</span>
        </Fact>
        {aliases.length > 0 && <Fact title="Formerly">{aliases.join(', ')}</Fact>}
        {entity.erasedAt !== null && (
          <Fact title="Erased">{<Ago at={microsOfDate(entity.erasedAt)} now={context.deps.now()} />}</Fact>
        )}
      </dl>
      <Table
        label="Identifiers"
        columns={[
          { title: 'Identifier', cell: ({ type }) => type.toUpperCase() },
          {
            title: 'Value',
            variant: 'mono',
            cell: ({ value }) => (entity.isPerson ? 'of a person: not shown here' : value),
          },
          { title: 'Tier', cell: ({ tier }) => <Tier tier={tier} /> },
        ]}
        rows={identifiers}
      />
      {latest && (
        <>
          <h2>Newest verification</h2>
          <Checks checks={latest.checks} />
        </>
      )}
      <Table label="Memberships" columns={MEMBERSHIP_COLUMNS} rows={memberships} />
      {owners[0] && <Owners statement={owners[0]} />}
      <Table label="Passports" columns={passportColumns(console)} rows={passports} />
      <RecordAnchors proven={newest} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

function actionsOf(base: string, { isPerson }: Entity): PageAction[] {
  const actions = [
    ['verify', 'Verify again'],
    ['memberships/change', 'Membership'],
    ['owners/state', 'Owners'],
    ['passports/issue', 'Passport'],
    ...(isPerson ? [['erase', 'Erase']] : []),
  ] as const
  return actions.map(([path = '', label = '']) => ({ href: `${base}/${path}`, label, isSecondary: true }))
}

const MEMBERSHIP_COLUMNS: Column<{
  membershipId: string
  role: string
  action: string
  effectiveOn: string | null
}>[] = [
  { title: 'Membership', variant: 'mono', cell: ({ membershipId }) => membershipId },
  { title: 'Role', cell: ({ role }) => role },
  { title: 'Change', cell: ({ action }) => action.toLowerCase() },
  { title: 'From', cell: ({ effectiveOn }) => effectiveOn ?? '—' },
]

/** Shows references of owners; their names are personal and only in the API. */
function Owners({
  statement,
}: {
  statement: { unstatedBps: number; owners: { ownerRef: string; kind: string; holdingBps: number }[] }
}) {
  return (
    <>
      <Table
        label="Owners"
        columns={[
          { title: 'Owner', variant: 'mono', cell: ({ ownerRef }) => ownerRef },
          { title: 'Kind', cell: ({ kind }) => kind.toLowerCase() },
          { title: 'Holding', variant: 'figure', cell: ({ holdingBps }) => `${(holdingBps / 100).toFixed(2)} %` },
        ]}
        rows={statement.owners}
      />
      <p class="hint">Not stated: {(statement.unstatedBps / 100).toFixed(2)} %. Tier: self declared.</p>
    </>
  )
}

// Anchored by us.
const termsOf = ({ body }: EntityPassport) => JSON.parse(body) as { purpose: string; expiresAt: string }

function passportColumns(console: Console): Column<EntityPassport>[] {
  return [
    { title: 'Passport', variant: 'mono', cell: ({ id }) => id },
    { title: 'Purpose', variant: 'breakable', cell: (one) => termsOf(one).purpose },
    { title: 'Until', cell: (one) => termsOf(one).expiresAt },
    {
      title: 'State',
      cell: ({ id, vei, revokedAt }) =>
        revokedAt !== null
          ? 'revoked'
          : mayIn(console, 'edit') && <a href={`${console.base}/businesses/${vei}/passports/${id}/revoke`}>Revoke</a>,
    },
  ]
}
