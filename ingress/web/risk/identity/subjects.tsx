import { NotFoundError } from '#shared/errors.ts'
import { assuranceOf } from '#shared/risk/identity/assurance.ts'
import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { findErasure } from '#shared/risk/identity/erasure-store.ts'
import { ReasonBody, SubjectBody, TransitionBody } from '#shared/risk/identity/identity-requests.ts'
import { listPassports } from '#shared/risk/identity/passport-store.ts'
import { listPresentations } from '#shared/risk/identity/presentation-store.ts'
import type { Subject } from '#shared/risk/identity/subject.ts'
import { findSubject, listSubjects, listTransitions } from '#shared/risk/identity/subject-store.ts'
import { factorsOf } from '#shared/risk/identity/verification.ts'
import { listVerifications } from '#shared/risk/identity/verification-store.ts'
import { createSubject, eraseSubject, moveSubject, unsealSubject } from '#shared/risk/operations/subjects.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate, toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Column, MonoLink, type PageAction, PageHead, Table } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { Ago, Exact, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole, sendList } from '../console.tsx'
import { codeField, evidenceForm } from '../evidence/form.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchors } from '../evidence/record-anchor.tsx'
import { change, common, idIn, ownerOf, pageOf, REASON, SUBJECT } from './change.ts'
import { consentColumns } from './consents.tsx'
import { Lists } from './parts.tsx'
import { passportColumns } from './passports.tsx'
import { presentationColumns } from './presentations.tsx'
import { verificationColumns } from './verifications.tsx'

/** Maximum rows of each kind. */
const SHOWN = 20

/** Omits the organisation's own reference to a subject. */
export async function showSubjects(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const base = `${console.base}/identity`
  sendList(context, console, {
    title: 'Identity',
    label: 'Subjects',
    area: 'identity',
    path: '/identity',
    actions: [
      ['/ask', 'Ask a wallet'],
      ['/subjects/add', 'Add a subject'],
    ],
    intro: <Lists console={console} current="" />,
    columns: [
      { title: 'Reference', cell: ({ id, ref }) => <MonoLink href={`${base}/subjects/${id}`} text={ref} /> },
      { title: 'Kind', cell: ({ kind }) => words(kind) },
      { title: 'State', cell: ({ state }) => words(state) },
      { title: 'Assurance', cell: ({ assuranceLevel }) => words(assuranceLevel) },
      { title: 'Since', cell: ({ createdAt }) => <Ago at={microsOfDate(createdAt)} now={now()} /> },
    ],
    empty: 'No subject yet.',
    ...(await readBySeq(context, (before, limit) => listSubjects(db, console, before, limit))),
  })
}

/** Shows anchored data of a subject: states, factors, passports and consents, no name. */
export async function showSubject(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config, now } = context.deps
  const id = context.params.subject ?? ''
  const subject = isUuid(id) ? await findSubject(db, console, id) : undefined
  if (!subject) throw new NotFoundError('There is no such subject.')
  const nowMs = toMillis(now())
  const own = { subjectId: id, before: null, limit: SHOWN }
  const [verifications, passports, consents, presentations, transitions, erasure] = await Promise.all([
    listVerifications(db, id),
    listPassports(db, id),
    listConsents(db, console, own),
    listPresentations(db, console, own),
    listTransitions(db, id),
    findErasure(db, id),
  ])
  const { level, expiresAt } = assuranceOf(factorsOf(verifications), nowMs)
  const [passport] = passports
  const [consent] = consents
  const newest = [
    transitions[0],
    passport?.revocation ?? passport?.body,
    consent?.withdrawal ?? consent?.record,
    erasure,
  ]
  const proven = await Promise.all(
    // Anchored by us.
    newest.flatMap((body) => (body === undefined ? [] : [proveRecord(db, JSON.parse(body) as AnchoredRecord)])),
  )
  sendConsole(
    context,
    console,
    { title: 'Subject', area: 'identity' },
    <>
      <PageHead title="Subject" actions={mayIn(console, 'edit') ? actionsOf(console, subject) : []} />
      <dl class="facts">
        <Fact title="Reference">
          <span class="mono">{subject.ref}</span>
        </Fact>
        <Fact title="Kind">{words(subject.kind)}</Fact>
        <Fact title="State">{words(subject.state)}</Fact>
        <Fact title="Assurance">{words(level)}</Fact>
        {expiresAt && (
          <Fact title="Until">
            <Exact at={microsOfDate(expiresAt)} isNamed />
          </Fact>
        )}
        {erasure !== undefined && <Fact title="Erased">values, reference and reasons are deleted</Fact>}
      </dl>
      <Table
        label="Verifications"
        columns={verificationColumns(console, { isOfMany: false })}
        rows={verifications.slice(0, SHOWN)}
      />
      <Table label="Presentations" columns={presentationColumns(console, nowMs)} rows={presentations} />
      <Table label="Passports" columns={passportColumns(console, nowMs)} rows={passports.slice(0, SHOWN)} />
      <Table label="Consents" columns={consentColumns(console)} rows={consents.map((one) => consentView(one, nowMs))} />
      <Table label="States" columns={TRANSITION_COLUMNS} rows={transitions.slice(0, SHOWN).map(transitionOf)} />
      <RecordAnchors proven={proven} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

function actionsOf(console: Console, { id, state }: Subject): PageAction[] {
  const base = `${console.base}/identity`
  const subject = `${base}/subjects/${id}`
  const open = [
    { href: `${base}/ask?subjectId=${id}`, label: 'Ask a wallet' },
    { href: `${subject}/verify`, label: 'Verify' },
    { href: `${base}/consents/record?subjectId=${id}`, label: 'Consent' },
    { href: `${subject}/move`, label: 'State' },
    { href: `${subject}/passport`, label: 'Passport' },
  ]
  const actions = [...(state === 'REVOKED' ? [] : open), { href: `${subject}/erase`, label: 'Erase' }]
  return actions.map((action) => ({ ...action, isSecondary: true }))
}

// Anchored by us.
const transitionOf = (body: string) => JSON.parse(body) as Record<string, string>

const TRANSITION_COLUMNS: Column<Record<string, string>>[] = [
  { title: 'At', cell: ({ timestamp = '' }) => instantText(timestamp) },
  { title: 'From', cell: ({ from = '' }) => words(from) },
  { title: 'To', cell: ({ to = '' }) => words(to) },
  { title: 'Reason', variant: 'mono breakable', cell: ({ reasonCode }) => reasonCode },
]

export function subjectForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/subjects/add',
    title: 'Add a subject',
    button: 'Add',
    fields: [
      { name: 'externalRef', label: 'Your reference', hint: 'sealed, and shown by the API alone', isRequired: true },
      codeField('kind', 'Kind', SubjectBody.shape.kind.options, 'PERSON'),
    ],
    schema: SubjectBody,
    submit: async (sent) =>
      await change(sent, 'subject.created', async (tx, deps) =>
        pageOf((await createSubject(tx, ownerOf(sent), sent.body, deps)).subjectId),
      ),
  })
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/move`,
    title: 'State',
    intro: 'The code is anchored, the reason is not.',
    button: 'Move',
    fields: [
      codeField('to', 'To', TransitionBody.shape.to.options, 'SUSPENDED'),
      REASON,
      { name: 'reasonCode', label: 'Code', isMono: true, hint: 'capitals, digits and _' },
    ],
    schema: TransitionBody,
    async submit(sent) {
      const id = idIn(sent, 'subject')
      const { to, reason, reasonCode } = sent.body
      return await change(sent, 'subject.moved', async (tx, deps) => {
        const subject = await unsealSubject(tx, ownerOf(sent), id)
        await moveSubject(tx, subject, to, { by: 'CALLER', reasonCode, reason }, deps)
        return pageOf(id)
      })
    },
  })
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/erase`,
    title: 'Erase a subject',
    intro:
      'Values, salts, your reference and reasons are deleted; passports are revoked. Anchored hashes stay, without any readable value.',
    button: 'Erase for good',
    confirm: 'Erase this subject for good? Deleted data cannot be restored.',
    fields: [REASON],
    schema: ReasonBody,
    async submit(sent) {
      const id = idIn(sent, 'subject')
      return await change(sent, 'subject.erased', async (tx, deps) => {
        await eraseSubject(tx, ownerOf(sent), id, deps)
        return pageOf(id)
      })
    },
  })
}
