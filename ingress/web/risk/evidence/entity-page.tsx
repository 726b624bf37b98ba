import { type EntityPassport, listEntityPassports } from '#shared/risk/businesses/passport-store.ts'
import { type Entity, listAliases, listEntityRecords, listIdentifiers } from '#shared/risk/businesses/store.ts'
import { requireEntity } from '#shared/risk/operations/business-requests.ts'
import { microsOfDate } from '#shared/time.ts'
import { Ago, Fact } from '../../components/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { Tier } from '../tiers.tsx'
import { Checks, Said, Table, type Verification } from './parts.tsx'
import { proveRecord, RecordAnchors } from './record-anchor.tsx'

/** Anchored objects of each kind that the page lists. */
const SHOWN = 10

/** All that an organisation holds of a business; of a person no identifier, and of owners no name. */
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
      <Said context={context} />
      <div class="page-head">
        <h1>Business</h1>
        {mayIn(console, 'edit') && <Actions base={`${console.base}/businesses/${entity.vei}`} entity={entity} />}
      </div>
      <dl class="facts">
        <Fact title="Entity identifier">
          <span class="mono">{entity.vei}</span>
        </Fact>
        {aliases.length > 0 && <Fact title="Formerly">{aliases.join(', ')}</Fact>}
        {entity.erasedAt !== null && (
          <Fact title="Erased">{<Ago at={microsOfDate(entity.erasedAt)} now={context.deps.now()} />}</Fact>
        )}
      </dl>
      {identifiers.length > 0 && (
        <Table label="Identifiers" columns={['Identifier', 'Value', 'Tier']}>
          {identifiers.map(({ type, value, tier }) => (
            <tr key={type + value}>
              <td>{type.toUpperCase()}</td>
              <td class="mono">{entity.isPerson ? 'of a person: not shown here' : value}</td>
              <td>
                <Tier tier={tier} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {latest && (
        <>
          <h2>Newest verification</h2>
          <Checks checks={latest.checks} />
        </>
      )}
      {memberships.length > 0 && <Memberships list={memberships} />}
      {owners[0] && <Owners statement={owners[0]} />}
      {passports.length > 0 && <Passports console={console} list={passports} />}
      <RecordAnchors proven={newest} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

function Actions({ base, entity }: { base: string; entity: Entity }) {
  const actions = [
    ['verify', 'Verify again'],
    ['memberships/change', 'Membership'],
    ['owners/state', 'Owners'],
    ['passports/issue', 'Passport'],
    ...(entity.isPerson ? [['erase', 'Erase']] : []),
  ] as const
  return (
    <p class="row">
      {actions.map(([path, label]) => (
        <a key={path} class="button" href={`${base}/${path}`}>
          {label}
        </a>
      ))}
    </p>
  )
}

function Memberships({
  list,
}: {
  list: { membershipId: string; role: string; action: string; effectiveOn: string | null }[]
}) {
  return (
    <Table label="Memberships" columns={['Membership', 'Role', 'What', 'From']}>
      {list.map(({ membershipId, role, action, effectiveOn }) => (
        <tr key={membershipId}>
          <td class="mono">{membershipId}</td>
          <td>{role}</td>
          <td>{action.toLowerCase()}</td>
          <td>{effectiveOn ?? '—'}</td>
        </tr>
      ))}
    </Table>
  )
}

/** Owners by their references: names are personal, and read through the API. */
function Owners({
  statement,
}: {
  statement: { unstatedBps: number; owners: { ownerRef: string; kind: string; holdingBps: number }[] }
}) {
  return (
    <>
      <Table label="Owners" columns={['Owner', 'Kind', 'Holding']}>
        {statement.owners.map(({ ownerRef, kind, holdingBps }) => (
          <tr key={ownerRef}>
            <td class="mono">{ownerRef}</td>
            <td>{kind.toLowerCase()}</td>
            <td class="figure">{(holdingBps / 100).toFixed(2)} %</td>
          </tr>
        ))}
      </Table>
      <p class="hint">Not stated: {(statement.unstatedBps / 100).toFixed(2)} %. Tier: self declared.</p>
    </>
  )
}

function Passports({ console, list }: { console: Console; list: readonly EntityPassport[] }) {
  return (
    <Table label="Passports" columns={['Passport', 'Purpose', 'Until', 'State']}>
      {list.map(({ id, vei, body, revokedAt }) => {
        // Anchored by us.
        const { purpose, expiresAt } = JSON.parse(body) as { purpose: string; expiresAt: string }
        return (
          <tr key={id}>
            <td class="mono">{id}</td>
            <td class="breakable">{purpose}</td>
            <td>{expiresAt}</td>
            <td>
              {revokedAt !== null && 'revoked'}
              {revokedAt === null && mayIn(console, 'edit') && (
                <a href={`${console.base}/businesses/${vei}/passports/${id}/revoke`}>Revoke</a>
              )}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}
