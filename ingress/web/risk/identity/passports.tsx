import { NotFoundError } from '#shared/errors.ts'
import type { Passport } from '#shared/risk/identity/passport.ts'
import { findOwnPassport, listAllPassports } from '#shared/risk/identity/passport-store.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate, toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { Exact, Fact } from '../../components/basics.tsx'
import { CodeBlock } from '../../components/form.tsx'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { Said, Table } from '../evidence/parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchors } from '../evidence/record-anchor.tsx'
import { Tier } from '../tiers.tsx'
import { Lists, Pager, pageOf } from './parts.tsx'

/** What an anchored passport holds. */
interface PassportRecord extends AnchoredRecord {
  subjectRef: string
  purpose: string
  assurance: { level: string; factors: string[] }
  evidence: { key: string; tier: string; observedAt: string }[]
  issuedAt: string
  statusList: { uri: string; idx: number }
}

// Anchored by us.
const recordOf = ({ body }: Passport) => JSON.parse(body) as PassportRecord

/** Passports of all subjects. */
export async function showPassports(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const { page, nextCursor, isFirst } = await pageOf(context, (before, limit) =>
    listAllPassports(db, console, before, limit),
  )
  sendConsole(
    context,
    console,
    { title: 'Passports', area: 'identity' },
    <>
      <Said context={context} />
      <h1>Passports</h1>
      <Lists console={console} current="/passports" />
      {page.length === 0 ? (
        <p class="empty">No passport is issued yet. The page of a verified subject issues one.</p>
      ) : (
        <PassportTable console={console} list={page} nowMs={toMillis(now())} />
      )}
      <Pager path={`${console.base}/identity/passports`} isFirst={isFirst} nextCursor={nextCursor} />
    </>,
  )
}

function stateOf({ revokedAt, expiresAt }: Passport, nowMs: number): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt.getTime() <= nowMs ? 'expired' : 'valid'
}

/** Passports with what they say: for what, how well the subject is known, until when. */
export function PassportTable(props: { console: Console; list: readonly Passport[]; nowMs: number }) {
  const { console, list, nowMs } = props
  const base = `${console.base}/identity/passports`
  return (
    <Table label="Passports" columns={['Passport', 'Subject', 'Purpose', 'Assurance', 'Until', 'State']}>
      {list.map((one) => {
        const { subjectRef, purpose, assurance } = recordOf(one)
        const state = stateOf(one, nowMs)
        return (
          <tr key={one.id}>
            <td>
              <a class="mono" href={`${base}/${one.id}`}>
                {one.id}
              </a>
            </td>
            <td class="mono">
              <a href={`${console.base}/identity/subjects/${one.subjectId}`}>{subjectRef}</a>
            </td>
            <td class="breakable">{purpose}</td>
            <td>{words(assurance.level)}</td>
            <td>
              <Exact at={microsOfDate(one.expiresAt)} isNamed />
            </td>
            <td>
              {state} {state === 'valid' && mayIn(console, 'edit') && <a href={`${base}/${one.id}/revoke`}>Revoke</a>}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

/** A passport as anybody may verify it, without names; and its revocation. */
export async function showPassport(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config, now } = context.deps
  const id = context.params.passport ?? ''
  const passport = isUuid(id) ? await findOwnPassport(db, console, id) : undefined
  if (!passport) throw new NotFoundError('There is no such passport.')
  const record = recordOf(passport)
  const state = stateOf(passport, toMillis(now()))
  const bodies = [passport.revocation, passport.body].filter((body) => body !== null)
  // Anchored by us.
  const proven = await Promise.all(bodies.map((body) => proveRecord(db, JSON.parse(body) as AnchoredRecord)))
  sendConsole(
    context,
    console,
    { title: 'Passport', area: 'identity' },
    <>
      <Said context={context} />
      <div class="page-head">
        <h1>Passport</h1>
        {state === 'valid' && mayIn(console, 'edit') && (
          <a class="button" href={`${console.base}/identity/passports/${id}/revoke`}>
            Revoke
          </a>
        )}
      </div>
      <dl class="facts">
        <Fact title="State">{state}</Fact>
        <Fact title="Subject">
          <a class="mono" href={`${console.base}/identity/subjects/${passport.subjectId}`}>
            {record.subjectRef}
          </a>
        </Fact>
        <Fact title="Purpose">{record.purpose}</Fact>
        <Fact title="Assurance">{words(record.assurance.level)}</Fact>
        <Fact title="Issued">{record.issuedAt}</Fact>
        <Fact title="Until">
          <Exact at={microsOfDate(passport.expiresAt)} isNamed />
        </Fact>
        <Fact title="Status list">
          <a href={record.statusList.uri}>place {record.statusList.idx}</a>
        </Fact>
      </dl>
      <Table label="Evidence" columns={['Evidence', 'Tier', 'At']}>
        {record.evidence.map(({ key, tier, observedAt }) => (
          <tr key={`${key} ${observedAt}`}>
            <td>{key}</td>
            <td>
              <Tier tier={tier} />
            </td>
            <td>{observedAt}</td>
          </tr>
        ))}
      </Table>
      <details class="more">
        <summary>The same as credential</summary>
        <p class="hint">An SD-JWT VC, for whoever verifies credentials.</p>
        <CodeBlock text={passport.credential} label="credential" />
      </details>
      <RecordAnchors proven={proven} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}
