import { NotFoundError } from '#shared/errors.ts'
import { IdentityPassportBody, ReasonBody } from '#shared/risk/identity/identity-requests.ts'
import type { Passport } from '#shared/risk/identity/passport.ts'
import { findOwnPassport, listAllPassports } from '#shared/risk/identity/passport-store.ts'
import { issueIdentityPassport, revokeIdentityPassport } from '#shared/risk/operations/issue-identity-passport.ts'
import { unsealSubject } from '#shared/risk/operations/subjects.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate, toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Column, MonoLink, PageHead, Table } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { CodeBlock, Exact, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { evidenceForm } from '../evidence/form.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchors } from '../evidence/record-anchor.tsx'
import { Tier } from '../tiers.tsx'
import { change, common, idIn, ownerOf, pageOf, REASON, SUBJECT } from './change.ts'
import { Lists } from './parts.tsx'

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

export async function showPassports(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  sendList(context, console, {
    title: 'Passports',
    area: 'identity',
    path: '/identity/passports',
    intro: <Lists console={console} current="/passports" />,
    columns: passportColumns(console, toMillis(now())),
    empty: 'No passport is issued yet. The page of a verified subject issues one.',
    ...(await readBySeq(context, (before, limit) => listAllPassports(db, console, before, limit))),
  })
}

function stateOf({ revokedAt, expiresAt }: Passport, nowMs: number): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt.getTime() <= nowMs ? 'expired' : 'valid'
}

export function passportColumns(console: Console, nowMs: number): Column<Passport>[] {
  const base = `${console.base}/identity`
  const subject = (one: Passport) => <a href={`${base}/subjects/${one.subjectId}`}>{recordOf(one).subjectRef}</a>
  return [
    { title: 'Passport', cell: ({ id }) => <MonoLink href={`${base}/passports/${id}`} text={id} /> },
    { title: 'Subject', variant: 'mono', cell: subject },
    { title: 'Purpose', variant: 'breakable', cell: (one) => recordOf(one).purpose },
    { title: 'Assurance', cell: (one) => words(recordOf(one).assurance.level) },
    { title: 'Until', cell: ({ expiresAt }) => <Exact at={microsOfDate(expiresAt)} isNamed /> },
    {
      title: 'State',
      cell: (one) => {
        const state = stateOf(one, nowMs)
        const isRevocable = state === 'valid' && mayIn(console, 'edit')
        return (
          <>
            {state} {isRevocable && <a href={`${base}/passports/${one.id}/revoke`}>Revoke</a>}
          </>
        )
      },
    },
  ]
}

/** A passport contains no names. */
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
  const revoke = { href: `${console.base}/identity/passports/${id}/revoke`, label: 'Revoke', isSecondary: true }
  sendConsole(
    context,
    console,
    { title: 'Passport', area: 'identity' },
    <>
      <PageHead title="Passport" actions={state === 'valid' && mayIn(console, 'edit') ? [revoke] : []} />
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
      <Table
        label="Evidence"
        columns={[
          { title: 'Evidence', cell: ({ key }) => key },
          { title: 'Tier', cell: ({ tier }) => <Tier tier={tier} /> },
          { title: 'At', cell: ({ observedAt }) => observedAt },
        ]}
        rows={record.evidence}
      />
      <details class="more">
        <summary>The same as credential</summary>
        <p class="hint">An SD-JWT VC, for verifiers of credentials.</p>
        <CodeBlock text={passport.credential} label="credential" />
      </details>
      <RecordAnchors proven={proven} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

export function passportForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/passport`,
    title: 'Passport',
    intro: 'Assurance and evidence of a verified subject, without names.',
    button: 'Issue',
    fields: [
      { name: 'purpose', label: 'Purpose', isRequired: true },
      { name: 'validForDays', label: 'Valid for days', kind: 'number', value: '180' },
    ],
    schema: IdentityPassportBody,
    async submit(sent) {
      const id = idIn(sent, 'subject')
      const { risk, config } = sent.context.deps
      const signingKey = await risk.passportKey(sent.console.env)
      return await change(sent, 'identity-passport.issued', async (tx, deps) => {
        const subject = await unsealSubject(tx, ownerOf(sent), id)
        const given = { ...deps, publicUrl: config.publicUrl, signingKey }
        await issueIdentityPassport(tx, ownerOf(sent), subject, sent.body, given)
        return pageOf(id)
      })
    },
  })
  evidenceForm(pages, {
    ...common,
    path: '/identity/passports/:passport/revoke',
    title: 'Revoke a passport',
    intro: 'Its status list shows it at once.',
    button: 'Revoke',
    confirm: 'Revoke this passport for good?',
    fields: [REASON],
    schema: ReasonBody,
    async submit(sent) {
      const id = idIn(sent, 'passport')
      return await change(sent, 'identity-passport.revoked', async (tx, deps) => {
        await revokeIdentityPassport(tx, ownerOf(sent), id, sent.body.reason, deps)
        return { next: `/identity/passports/${id}`, target: id }
      })
    },
  })
}
