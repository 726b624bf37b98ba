import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { IdentityVerificationBody } from '#shared/risk/identity/identity-requests.ts'
import { stateAt as presentationState } from '#shared/risk/identity/presentation.ts'
import { listPresentations } from '#shared/risk/identity/presentation-store.ts'
import type { Verification } from '#shared/risk/identity/verification.ts'
import { listAllVerifications } from '#shared/risk/identity/verification-store.ts'
import { IDENTITY_VERIFICATIONS, runSubjectVerification } from '#shared/risk/operations/identity-verifications.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { type Column, MonoLink } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { codeField, evidenceForm } from '../evidence/form.tsx'
import { idOf, jobContext, note } from '../evidence/job-context.ts'
import { factorName } from '../evidence/names.ts'
import { sendPending } from '../evidence/parts.tsx'
import { Tier } from '../tiers.tsx'
import { common, idIn, SUBJECT, toSubject } from './change.ts'
import { consentText } from './consents.tsx'
import { dateText, IdentityCrumb, Lists, REQUEST } from './parts.tsx'

/** Omits verified values. */
export async function showVerifications(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  sendList(context, console, {
    title: 'Verifications',
    area: 'identity',
    path: '/identity/verifications',
    intro: <Lists console={console} current="/verifications" />,
    variant: 'wide-table stacked',
    columns: verificationColumns(console, { isOfMany: true }),
    empty: (
      <EmptyCard
        title="No verifications yet"
        action={mayIn(console, 'edit') ? { label: 'Open the subjects', href: `${console.base}/identity` } : null}
      >
        <p>You verify a subject on its page: with a presentation of a wallet, a registry or a signed document.</p>
      </EmptyCard>
    ),
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
    { title: 'Verification', cell: ({ id, key }) => <a href={`${base}/verifications/${id}`}>{factorName(key)}</a> },
    ...(isOfMany
      ? [
          {
            title: 'Subject',
            isLabelled: true,
            cell: ({ subjectId = '', subjectRef = '' }) => (
              <MonoLink href={`${base}/subjects/${subjectId}`} text={subjectRef} />
            ),
          },
        ]
      : []),
    {
      title: 'Tier',
      isLabelled: true,
      cell: ({ tier, missingReason }) => (
        <>
          <Tier tier={tier} /> {missingReason !== null && words(missingReason)}
        </>
      ),
    },
    { title: 'Verified', isLabelled: true, cell: ({ observedAt }) => dateText(observedAt) },
    {
      title: 'Valid until',
      isLabelled: true,
      cell: ({ revokedAt, expiresAt }) => (revokedAt === null ? dateText(expiresAt) : 'no longer valid'),
    },
    {
      title: 'Source',
      isLabelled: true,
      cell: ({ presentationId }) =>
        presentationId === null ? '—' : <a href={`${base}/presentations/${presentationId}`}>Presentation</a>,
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
      <IdentityCrumb console={console} path={`/subjects/${subjectId}`} label="Subject" />
      <h1>Verification: {factorName(key)}</h1>
      <NextAction
        context={context}
        text={
          missingReason === null
            ? 'The verification counts for the subject.'
            : `Nothing was verified: ${words(missingReason)}. Verify the subject again when that is resolved.`
        }
        actions={[{ label: 'Open the subject', href: `${console.base}/identity/subjects/${subjectId}` }]}
      />
      <dl class="facts">
        <Fact title="Tier">
          <Tier tier={tier} />
        </Fact>
        <Fact title="Verified">{instantText(observedAt)}</Fact>
        <Fact title="Assurance then">{words(assurance.level)}</Fact>
      </dl>
    </>,
  )
}

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  PRESENTATION: ['presentationId'],
  DOCUMENT: ['documentSha256', 'signature'],
  REGISTRY: ['registry', 'identifier', 'consentId', 'purpose'],
}

const OFFERED = 50

/** Offers verified presentations that are of the subject or of no subject yet, and live consents of the subject. */
async function verificationFields(context: Context, console: Console): Promise<readonly FormItem[]> {
  const { db, now } = context.deps
  const subjectId = context.params.subject ?? ''
  if (!isUuid(subjectId)) throw new NotFoundError('There is no such page.')
  const nowMs = toMillis(now())
  const own = { subjectId, before: null, limit: OFFERED }
  const [bound, newest, consents] = await Promise.all([
    listPresentations(db, console, own),
    listPresentations(db, console, { ...own, subjectId: null }),
    listConsents(db, console, own),
  ])
  const unbound = newest.filter((one) => one.subjectId === null)
  const verified = [...bound, ...unbound].filter((one) => presentationState(one, nowMs) === 'VERIFIED')
  const live = consents.map((one) => consentView(one, nowMs)).filter(({ state }) => state === 'LIVE')
  const ask = `${console.base}/identity/ask?subjectId=${subjectId}`
  const consent = `${console.base}/identity/consents/record?subjectId=${subjectId}`
  return [
    {
      name: 'method',
      label: 'Method',
      kind: 'radios',
      options: METHODS,
      value: verified.length === 0 && live.length > 0 ? 'REGISTRY' : 'PRESENTATION',
    },
    {
      legend: 'Presentation of a wallet',
      class: 'for-presentation',
      items: [
        {
          name: 'presentationId',
          label: 'Presentation',
          kind: 'select',
          ...(verified.length === 0 && { hint: <a href={ask}>{REQUEST}</a> }),
          options: chosenFrom(verified.map(({ id, purpose, createdAt }) => [id, `${purpose}, ${dateText(createdAt)}`])),
        },
      ],
    },
    {
      legend: 'Registry',
      class: 'for-registry',
      items: [
        codeField('registry', 'Registry', ['PAN', 'CKYC'], 'PAN'),
        {
          name: 'identifier',
          label: 'Identifier in the registry',
          hint: 'a PAN such as AAAPZ1234C, or the 14 digits of a CKYC number',
          isMono: true,
        },
        {
          name: 'consentId',
          label: 'Consent',
          kind: 'select',
          hint: live.length === 0 ? <a href={consent}>Record a consent</a> : 'required for a person',
          options: chosenFrom(live.map((one) => [one.consentId, consentText(one)])),
        },
        { name: 'purpose', label: 'Purpose', hint: 'that of the consent; default: identity verification' },
      ],
    },
    {
      legend: 'Signed document',
      class: 'for-document',
      items: [
        { name: 'documentSha256', label: 'SHA-256 of a document', kind: 'hash' },
        {
          name: 'signature',
          label: 'Its signature',
          kind: 'lines',
          hint: 'a compact JWS over the hash, by an issuer that you trust',
        },
      ],
    },
  ]
}

const METHODS = [
  { value: 'PRESENTATION', label: 'Presentation of a wallet', hint: 'A credential that its holder has shown' },
  { value: 'REGISTRY', label: 'Registry', hint: 'PAN or CKYC; a person must have consented' },
  { value: 'DOCUMENT', label: 'Signed document', hint: 'The hash of a document with the signature of an issuer' },
]

function chosenFrom(options: readonly (readonly [value: string, label: string])[]) {
  return [
    { value: '', label: options.length === 0 ? 'None yet' : 'Choose one' },
    ...options.map(([value, label]) => ({ value, label })),
  ]
}

export function verificationForm(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/verify`,
    title: 'Verify a subject',
    cancel: toSubject,
    button: 'Verify',
    fields: verificationFields,
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
