import { NotFoundError } from '#shared/errors.ts'
import { IdentityPassportBody, ReasonBody } from '#shared/risk/identity/identity-requests.ts'
import type { Passport } from '#shared/risk/identity/passport.ts'
import { findOwnPassport, listAllPassports } from '#shared/risk/identity/passport-store.ts'
import { issueIdentityPassport, revokeIdentityPassport } from '#shared/risk/operations/issue-identity-passport.ts'
import { unsealSubject } from '#shared/risk/operations/subjects.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { type Column, PageHead, Table } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { CodeBlock, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { MoreActions } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { evidenceForm } from '../evidence/form.tsx'
import { factorName } from '../evidence/names.ts'
import { type AnchoredRecord, proveRecord, RecordAnchors } from '../evidence/record-anchor.tsx'
import { Tier } from '../tiers.tsx'
import { change, common, idIn, ownerOf, REASON, SUBJECT, toSubject } from './change.ts'
import { dateText, IdentityCrumb, Lists, StatePill } from './parts.tsx'

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
    variant: 'wide-table stacked',
    empty: (
      <EmptyCard
        title="No passports yet"
        action={mayIn(console, 'edit') ? { label: 'Open the subjects', href: `${console.base}/identity` } : null}
      >
        <p>A passport states the assurance of a verified subject without names. You issue it on the subject’s page.</p>
      </EmptyCard>
    ),
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
    {
      title: 'Purpose',
      variant: 'breakable',
      cell: (one) => <a href={`${base}/passports/${one.id}`}>{recordOf(one).purpose}</a>,
    },
    { title: 'Subject', variant: 'mono', isLabelled: true, cell: subject },
    { title: 'Assurance', isLabelled: true, cell: (one) => words(recordOf(one).assurance.level) },
    { title: 'Valid until', isLabelled: true, cell: ({ expiresAt }) => dateText(expiresAt) },
    {
      title: 'State',
      isLabelled: true,
      cell: (one) => {
        const state = stateOf(one, nowMs)
        const isRevocable = state === 'valid' && mayIn(console, 'edit')
        return (
          <>
            <StatePill text={state} /> {isRevocable && <a href={`${base}/passports/${one.id}/revoke`}>Revoke</a>}
          </>
        )
      },
    },
  ]
}

const PASSPORT_TEXTS = new Map([
  ['valid', 'Verifiers can accept this passport: its status list shows it as valid.'],
  ['revoked', 'Verifiers refuse this passport: its status list shows it as revoked.'],
  ['expired', 'This passport has expired. Issue a new one on the page of the subject.'],
])

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
  const revoke = { href: `${console.base}/identity/passports/${id}/revoke`, label: 'Revoke…', isDestructive: true }
  const subject = `/subjects/${passport.subjectId}`
  sendConsole(
    context,
    console,
    { title: 'Passport', area: 'identity' },
    <>
      <IdentityCrumb console={console} path={subject} label="Subject" />
      <PageHead
        title={
          <>
            Passport <StatePill text={state} />
          </>
        }
        more={state === 'valid' && mayIn(console, 'edit') && <MoreActions context={context} actions={[revoke]} />}
      />
      <p>{PASSPORT_TEXTS.get(state)}</p>
      <dl class="facts">
        <Fact title="Subject">
          <a class="mono" href={`${console.base}/identity${subject}`}>
            {record.subjectRef}
          </a>
        </Fact>
        <Fact title="Purpose">{record.purpose}</Fact>
        <Fact title="Assurance">{words(record.assurance.level)}</Fact>
        <Fact title="Issued">{instantText(record.issuedAt)}</Fact>
        <Fact title="Valid until">{dateText(passport.expiresAt)}</Fact>
        <Fact title="Status list">
          <a href={record.statusList.uri}>entry {record.statusList.idx}</a>
        </Fact>
      </dl>
      <h2>Evidence</h2>
      <Table
        label="Evidence"
        variant="wide-table stacked"
        columns={[
          { title: 'Evidence', cell: ({ key }) => factorName(key) },
          { title: 'Tier', isLabelled: true, cell: ({ tier }) => <Tier tier={tier} /> },
          { title: 'Observed', isLabelled: true, cell: ({ observedAt }) => instantText(observedAt) },
        ]}
        rows={record.evidence}
      />
      <details class="more">
        <summary>The passport as a credential</summary>
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
    title: 'Issue a passport',
    intro: 'It states the assurance and evidence of a verified subject, without names.',
    button: 'Issue the passport',
    cancel: toSubject,
    fields: [
      {
        name: 'purpose',
        label: 'Purpose',
        hint: 'visible in the passport, for example: loan application',
        isRequired: true,
      },
      { name: 'validForDays', label: 'Valid for (days)', kind: 'number', value: '180', hint: '1 to 365' },
    ],
    schema: IdentityPassportBody,
    async submit(sent) {
      const id = idIn(sent, 'subject')
      const { risk, config } = sent.context.deps
      const signingKey = await risk.passportKey(sent.console.env)
      return await change(sent, 'identity-passport.issued', async (tx, deps) => {
        const subject = await unsealSubject(tx, ownerOf(sent), id)
        const given = { ...deps, publicUrl: config.publicUrl, signingKey }
        const { passportId } = await issueIdentityPassport(tx, ownerOf(sent), subject, sent.body, given)
        return { next: `/identity/passports/${passportId}`, target: id }
      })
    },
  })
  evidenceForm(pages, {
    ...common,
    path: '/identity/passports/:passport/revoke',
    title: 'Revoke a passport',
    intro: 'Its status list shows it at once.',
    button: 'Revoke the passport',
    cancel: ({ passport = '' }) => `/identity/passports/${passport}`,
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
