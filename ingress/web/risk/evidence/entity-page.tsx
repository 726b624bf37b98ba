import { type EntityPassport, listEntityPassports } from '#shared/risk/businesses/passport-store.ts'
import { type Entity, listAliases, listEntityRecords, listIdentifiers } from '#shared/risk/businesses/store.ts'
import { requireEntity } from '#shared/risk/operations/business-requests.ts'
import { dayText, instantText } from '#shared/risk/packs/pdf/figures.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { type Column, type PageAction, PageHead, Table } from '../../lists/list.tsx'
import { Ago, Copyable, Crumb, Fact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { ChecksResult, entityName, identifierName } from './entity-name.tsx'
import { codeName, percentText } from './names.ts'
import { Checks, type Verification } from './parts.tsx'
import { type ProvenRecord, proveRecord, RecordAnchor } from './record-anchor.tsx'

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
  const passportRecord = passport && JSON.parse(passport.revocation ?? passport.body)
  const newest = [
    ['Anchor of the newest verification', latest],
    ['Anchor of the newest membership', memberships[0]],
    ['Anchor of the owners', owners[0]],
    [passport?.revocation ? 'Anchor of the revocation' : 'Anchor of the newest passport', passportRecord],
  ] as const
  const proofs = await Promise.all(
    newest.flatMap(([title, record]) =>
      record ? [proveRecord(db, record).then((proven) => ({ title, proven }))] : [],
    ),
  )
  const name = entityName({ ...entity, identifiers })
  const mayEdit = mayIn(console, 'edit')
  sendConsole(
    context,
    console,
    { title: name, area: 'businesses' },
    <>
      <Crumb href={`${console.base}/businesses`} label="Businesses" />
      <PageHead title={name} actions={mayEdit ? actionsOf(`${console.base}/businesses/${entity.vei}`, entity) : []} />
      <dl class="facts">
        <Fact title="Entity identifier">
          <Copyable text={entity.vei} label="the entity identifier" />
        </Fact>
        {aliases.length > 0 && (
          <Fact title="Former identifier">
            <span class="mono">{aliases.join(', ')}</span>
          </Fact>
        )}
        {latest && (
          <Fact title="Newest verification">
            <ChecksResult checks={latest.checks} /> {instantText(latest.timestamp)}
          </Fact>
        )}
        {entity.erasedAt !== null && (
          <Fact title="Erased">{<Ago at={microsOfDate(entity.erasedAt)} now={context.deps.now()} />}</Fact>
        )}
      </dl>
      {entity.erasedAt === null && passports.length === 0 && mayEdit && (
        <NextAction
          context={context}
          text="A passport proves the results of the verification to others, without the registries."
          actions={[{ href: `${console.base}/businesses/${entity.vei}/passports/issue`, label: 'Issue a passport' }]}
        />
      )}
      {identifiers.length > 0 && <h2>Identifiers</h2>}
      <Table
        label="Identifiers"
        variant="stacked"
        columns={[
          { title: 'Identifier', cell: ({ type }) => identifierName(type) },
          {
            title: 'Value',
            variant: 'mono breakable',
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
      {memberships.length > 0 && <h2>Memberships</h2>}
      <Table label="Memberships" variant="stacked" columns={MEMBERSHIP_COLUMNS} rows={memberships} />
      {owners[0] && <Owners statement={owners[0]} />}
      {passports.length > 0 && <h2>Passports</h2>}
      <Table
        label="Passports"
        variant="stacked"
        columns={passportColumns(console, context.deps.now())}
        rows={passports}
      />
      <Proofs proofs={proofs} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

/** Folded, because hashes would fill the screen. */
function Proofs(props: {
  proofs: readonly { title: string; proven: ProvenRecord }[]
  publicUrl: string
  env: Console['env']
}) {
  const { proofs, publicUrl, env } = props
  if (proofs.length === 0) return null
  return (
    <details class="more">
      <summary>
        {proofs.length === 1 ? 'Proof of 1 record' : `Proofs of ${proofs.length} records`}: hash, position in the log
      </summary>
      {proofs.map(({ title, proven }) => (
        <RecordAnchor key={title} title={title} proven={proven} publicUrl={publicUrl} env={env} />
      ))}
    </details>
  )
}

function actionsOf(base: string, { isPerson }: Entity): PageAction[] {
  const actions = [
    ['verify', 'Verify again'],
    ['passports/issue', 'Issue a passport'],
    ['memberships/change', 'Record a membership'],
    ['owners/state', 'Record the owners'],
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
  { title: 'Role', cell: ({ role }) => role },
  { title: 'Change', isLabelled: true, cell: ({ action }) => codeName(action) },
  { title: 'From', isLabelled: true, cell: ({ effectiveOn }) => (effectiveOn === null ? '—' : dayText(effectiveOn)) },
  { title: 'Record', variant: 'mono breakable', isLabelled: true, cell: ({ membershipId }) => membershipId },
]

/** Shows references of owners; their names are personal and only in the API. */
function Owners({
  statement,
}: {
  statement: { unstatedBps: number; owners: { ownerRef: string; kind: string; holdingBps: number }[] }
}) {
  return (
    <>
      <h2>Owners</h2>
      <Table
        label="Owners"
        variant="stacked"
        columns={[
          { title: 'Reference', variant: 'mono breakable', cell: ({ ownerRef }) => ownerRef },
          { title: 'Type', isLabelled: true, cell: ({ kind }) => codeName(kind) },
          {
            title: 'Holding',
            isNumber: true,
            isLabelled: true,
            cell: ({ holdingBps }) => percentText(holdingBps),
          },
        ]}
        rows={statement.owners}
      />
      <p class="hint">
        Not stated: {percentText(statement.unstatedBps)}. Self declared: no registry confirmed it. Names are in the API
        only.
      </p>
    </>
  )
}

// Anchored by us.
const termsOf = ({ body }: EntityPassport) => JSON.parse(body) as { purpose: string; expiresAt: string }

function passportColumns(console: Console, now: Micros): Column<EntityPassport>[] {
  return [
    { title: 'Purpose', variant: 'breakable', cell: (one) => termsOf(one).purpose },
    { title: 'State', cell: (one) => <PassportState passport={one} now={now} /> },
    { title: 'Until', isLabelled: true, cell: (one) => instantText(termsOf(one).expiresAt) },
    { title: 'Passport', variant: 'mono breakable', isLabelled: true, cell: ({ id }) => id },
    {
      title: 'Action',
      isTitleHidden: true,
      cell: ({ id, vei, revokedAt }) =>
        revokedAt === null &&
        mayIn(console, 'edit') && <a href={`${console.base}/businesses/${vei}/passports/${id}/revoke`}>Revoke</a>,
    },
  ]
}

function PassportState({ passport, now }: { passport: EntityPassport; now: Micros }) {
  if (passport.revokedAt !== null) return <span class="pill bad">revoked</span>
  const isExpired = microsOfDate(new Date(termsOf(passport).expiresAt)) <= now
  return isExpired ? <span class="pill late">expired</span> : <span class="pill good">valid</span>
}
