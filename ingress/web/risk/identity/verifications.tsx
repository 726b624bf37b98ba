import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import type { Verification } from '#shared/risk/identity/verification.ts'
import { listAllVerifications } from '#shared/risk/identity/verification-store.ts'
import { IDENTITY_VERIFICATIONS } from '#shared/risk/operations/identity-verifications.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate } from '#shared/time.ts'
import { Exact, Fact } from '../../components/basics.tsx'
import { type Column, MonoLink } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, sendConsole, sendList } from '../console.tsx'
import { Pending } from '../evidence/parts.tsx'
import { Tier } from '../tiers.tsx'
import { Lists } from './parts.tsx'

/** Verifications of all subjects: method, tier and subject, without values. */
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

/** Verifications with their tiers. @param isOfMany adds the subject of each */
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

/** What came of a verification, once a worker has ended it. */
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
  if (answer.status === 202) {
    return sendConsole(context, console, { ...page, pollSeconds: 2 }, <Pending title="Verification" />)
  }
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
