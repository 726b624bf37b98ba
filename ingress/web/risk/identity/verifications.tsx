import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { IdentityVerificationBody } from '#shared/risk/identity/identity-requests.ts'
import type { Verification } from '#shared/risk/identity/verification.ts'
import { listAllVerifications } from '#shared/risk/identity/verification-store.ts'
import { IDENTITY_VERIFICATIONS, runSubjectVerification } from '#shared/risk/operations/identity-verifications.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate } from '#shared/time.ts'
import { type Column, MonoLink } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { Exact, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { type Console, loadConsole, sendConsole, sendList } from '../console.tsx'
import { codeField, evidenceForm } from '../evidence/form.tsx'
import { idOf, jobContext, note } from '../evidence/job-context.ts'
import { sendPending } from '../evidence/parts.tsx'
import { Tier } from '../tiers.tsx'
import { common, idIn, SUBJECT } from './change.ts'
import { Lists } from './parts.tsx'

/** Omits verified values. */
export async function showVerifications(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  sendList(context, console, {
    title: 'Verifications',
    area: 'identity',
    path: '/identity/verifications',
    intro: <Lists console={console} current="/verifications" />,
    columns: verificationColumns(console, { isOfMany: true }),
    empty: 'No subject has been verified yet.',
    ...(await readBySeq(context, (before, limit) => listAllVerifications(context.deps.db, console, before, limit))),
  })
}

/** @param isOfMany adds the subject of each verification */
export function verificationColumns(
  console: Console,
  { isOfMany }: { isOfMany: boolean },
): Column<Verification & { subjectId?: string; subjectRef?: string }>[] {
  const base = `${console.base}/identity`
  return [
    { title: 'Verification', cell: ({ id, key }) => <a href={`${base}/verifications/${id}`}>{key}</a> },
    ...(isOfMany
      ? [
          {
            title: 'Subject',
            cell: ({ subjectId = '', subjectRef = '' }) => (
              <MonoLink href={`${base}/subjects/${subjectId}`} text={subjectRef} />
            ),
          },
        ]
      : []),
    {
      title: 'Tier',
      cell: ({ tier, missingReason }) => (
        <>
          <Tier tier={tier} /> {missingReason !== null && words(missingReason)}
        </>
      ),
    },
    {
      title: 'By',
      cell: ({ presentationId }) =>
        presentationId === null ? '—' : <a href={`${base}/presentations/${presentationId}`}>its presentation</a>,
    },
    { title: 'At', cell: ({ observedAt }) => <Exact at={microsOfDate(observedAt)} isNamed /> },
    {
      title: 'Until',
      cell: ({ revokedAt, expiresAt }) =>
        revokedAt === null ? <Exact at={microsOfDate(expiresAt)} isNamed /> : 'no longer valid',
    },
  ]
}

export async function showVerification(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const job = {
    kind: 'identity.verification',
    folder: IDENTITY_VERIFICATIONS,
    id: context.params.id ?? '',
    what: 'verification',
  } as const
  const answer = await readOutcome(context.deps, console, job)
  const page = { title: 'Verification', area: 'identity' } as const
  if (answer.status === 202) return sendPending(context, console, page)
  // Stored as we answered it.
  const { subjectId, key, tier, missingReason, observedAt, assurance } = JSON.parse(answer.body)
  sendConsole(
    context,
    console,
    page,
    <>
      <h1>Verification</h1>
      <dl class="facts">
        <Fact title="By">{key}</Fact>
        <Fact title="Tier">
          <Tier tier={tier} />
        </Fact>
        {missingReason !== null && <Fact title="Missing">{words(missingReason)}</Fact>}
        <Fact title="At">{observedAt}</Fact>
        <Fact title="Assurance then">{words(assurance.level)}</Fact>
      </dl>
      <p>
        <a class="button" href={`${console.base}/identity/subjects/${subjectId}`}>
          The subject
        </a>
      </p>
    </>,
  )
}

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  PRESENTATION: ['presentationId'],
  DOCUMENT: ['documentSha256', 'signature'],
  REGISTRY: ['registry', 'identifier', 'consentId', 'purpose'],
}

export function verificationForm(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/verify`,
    title: 'Verify',
    intro: 'Fill in what your method needs. A registry is queried about a person only with a live consent.',
    button: 'Verify',
    fields: [
      codeField('method', 'Method', Object.keys(MEMBERS), 'PRESENTATION'),
      { name: 'presentationId', label: 'Presentation', isMono: true },
      codeField('registry', 'Registry', ['PAN', 'CKYC'], 'PAN'),
      { name: 'identifier', label: 'Identifier there', isMono: true },
      { name: 'consentId', label: 'Consent', isMono: true },
      { name: 'purpose', label: 'Purpose', hint: 'that of the consent; default: identity verification' },
      { name: 'documentSha256', label: 'SHA-256 of a document', isMono: true },
      { name: 'signature', label: 'Its signature', kind: 'lines', hint: 'a compact JWS' },
    ],
    schema: IdentityVerificationBody,
    complete(body) {
      const names = ['method', ...(MEMBERS[String(body.method)] ?? [])]
      return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)))
    },
    async submit(sent) {
      const subjectId = idIn(sent, 'subject')
      const answer = await runSubjectVerification(jobContext(sent), subjectId, sent.body, (tx) =>
        note(tx, sent.context, sent.console, 'subject.verified', subjectId),
      )
      return `/identity/verifications/${idOf(answer, 'verificationId')}`
    },
  })
}
