import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import type { Verification } from '#shared/risk/identity/verification.ts'
import { listAllVerifications } from '#shared/risk/identity/verification-store.ts'
import { IDENTITY_VERIFICATIONS } from '#shared/risk/operations/identity-verifications.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate } from '#shared/time.ts'
import { Exact, Fact } from '../../components/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, sendConsole } from '../console.tsx'
import { Pending, Table } from '../evidence/parts.tsx'
import { Tier } from '../tiers.tsx'
import { Lists, Pager, pageOf } from './parts.tsx'

/** Verifications of all subjects: by what, how well, of whom; no value. */
export async function showVerifications(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { page, nextCursor, isFirst } = await pageOf(context, (before, limit) =>
    listAllVerifications(context.deps.db, console, before, limit),
  )
  sendConsole(
    context,
    console,
    { title: 'Verifications', area: 'identity' },
    <>
      <h1>Verifications</h1>
      <Lists console={console} current="/verifications" />
      {page.length === 0 ? (
        <p class="empty">No subject was verified yet.</p>
      ) : (
        <VerificationTable console={console} list={page} />
      )}
      <Pager path={`${console.base}/identity/verifications`} isFirst={isFirst} nextCursor={nextCursor} />
    </>,
  )
}

type Row = Verification & { subjectId?: string; subjectRef?: string }

/** Verifications with their tiers; of several subjects each with its own. */
export function VerificationTable({ console, list }: { console: Console; list: readonly Row[] }) {
  const base = `${console.base}/identity`
  const isOfMany = list.some(({ subjectRef }) => subjectRef !== undefined)
  return (
    <Table
      label="Verifications"
      columns={['Verification', ...(isOfMany ? ['Subject'] : []), 'Tier', 'By', 'At', 'Until']}
    >
      {list.map((one) => (
        <tr key={one.id}>
          <td>
            <a href={`${base}/verifications/${one.id}`}>{one.key}</a>
          </td>
          {isOfMany && (
            <td>
              <a class="mono" href={`${base}/subjects/${one.subjectId}`}>
                {one.subjectRef}
              </a>
            </td>
          )}
          <td>
            <Tier tier={one.tier} /> {one.missingReason !== null && words(one.missingReason)}
          </td>
          <td>
            {one.presentationId === null ? (
              '—'
            ) : (
              <a href={`${base}/presentations/${one.presentationId}`}>its presentation</a>
            )}
          </td>
          <td>
            <Exact at={microsOfDate(one.observedAt)} isNamed />
          </td>
          <td>{one.revokedAt === null ? <Exact at={microsOfDate(one.expiresAt)} isNamed /> : 'counts no longer'}</td>
        </tr>
      ))}
    </Table>
  )
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
