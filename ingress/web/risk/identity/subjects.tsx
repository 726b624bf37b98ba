import { NotFoundError } from '#shared/errors.ts'
import { ReasonBody, SubjectBody, TransitionBody } from '#shared/risk/identity/identity-requests.ts'
import { checkTransition } from '#shared/risk/identity/requests.ts'
import type { IdentityState } from '#shared/risk/identity/subject.ts'
import { findSubject, listSubjects } from '#shared/risk/identity/subject-store.ts'
import { createSubject, eraseSubject, moveSubject, unsealSubject } from '#shared/risk/operations/subjects.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { MonoLink } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import { Ago } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendList } from '../console.tsx'
import { evidenceForm } from '../evidence/form.tsx'
import { codeName } from '../evidence/names.ts'
import { change, common, idIn, ownerOf, pageOf, REASON, SUBJECT, toSubject } from './change.ts'
import { Lists, REQUEST, StatePill, subjectState } from './parts.tsx'

const ADD = 'Add a subject'

/** Omits the organisation's own reference to a subject. */
export async function showSubjects(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const base = `${console.base}/identity`
  const listed = await readBySeq(context, (before, limit) => listSubjects(db, console, before, limit))
  sendList(context, console, {
    title: 'Identity',
    label: 'Subjects',
    area: 'identity',
    path: '/identity',
    actions: listed.rows.length > 0 ? [['/subjects/add', ADD]] : [],
    more: [
      ['/ask', REQUEST],
      ['/consents/record', 'Record a consent'],
      ['/issuers/trust', 'Trust an issuer'],
    ],
    intro: <Lists console={console} current="" />,
    columns: [
      { title: 'Reference', cell: ({ id, ref }) => <MonoLink href={`${base}/subjects/${id}`} text={ref} /> },
      { title: 'Type', isLabelled: true, cell: ({ kind }) => words(kind) },
      { title: 'State', isLabelled: true, cell: ({ state }) => <StatePill text={subjectState(state)} /> },
      { title: 'Assurance', isLabelled: true, cell: ({ assuranceLevel }) => words(assuranceLevel) },
      { title: 'Added', isLabelled: true, cell: ({ createdAt }) => <Ago at={microsOfDate(createdAt)} now={now()} /> },
    ],
    variant: 'wide-table stacked',
    empty: (
      <EmptyCard
        title="No subjects yet"
        action={mayIn(console, 'edit') ? { label: ADD, href: `${base}/subjects/add` } : null}
      >
        <ol>
          <li>Add a subject: a person or company whose identity you verify.</li>
          <li>Request a credential from its wallet, or query a registry with its consent.</li>
          <li>Issue a passport that states the assurance without names.</li>
        </ol>
      </EmptyCard>
    ),
    ...listed,
  })
}

/** Offers the changes that a person may make to the subject in its state. */
async function moveFields(context: Context, console: Console): Promise<readonly FormItem[]> {
  const id = context.params.subject ?? ''
  const subject = isUuid(id) ? await findSubject(context.deps.db, console, id) : undefined
  if (!subject) throw new NotFoundError('There is no such subject.')
  const possible = TransitionBody.shape.to.options.filter(
    (to) => checkTransition(subject.state, to, 'CALLER') === 'allowed',
  )
  return [
    {
      name: 'to',
      label: 'New state',
      kind: 'radios',
      hint: `The subject is ${subjectState(subject.state)}.`,
      options: possible.map((to) => ({ value: to, label: codeName(to), hint: MEANINGS[to] })),
      value: possible[0],
    },
    REASON,
    {
      summary: 'More options',
      items: [{ name: 'reasonCode', label: 'Code', isMono: true, hint: 'anchored; capitals, digits and _' }],
    },
  ]
}

const MEANINGS: Readonly<Record<IdentityState, string>> = {
  UNVERIFIED: 'Verification has not started.',
  PENDING: 'Verification has started.',
  VERIFIED: 'Its verifications count again.',
  EXPIRED: 'Its verifications are too old.',
  SUSPENDED: 'It does not count as verified until you end this.',
  REVOKED: 'For good: it cannot be verified again.',
}

export function subjectForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/subjects/add',
    title: ADD,
    intro: 'Pages and anchored records show a random reference in place of yours.',
    button: 'Add',
    fields: [
      {
        name: 'kind',
        label: 'Type',
        kind: 'segments',
        options: SubjectBody.shape.kind.options.map((value) => ({ value, label: codeName(value) })),
        value: 'PERSON',
      },
      {
        name: 'externalRef',
        label: 'Your reference',
        hint: 'for example a customer number; encrypted, only the API returns it',
        isRequired: true,
      },
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
    title: 'Change the state',
    intro: 'The code is anchored; the reason is not.',
    button: 'Change the state',
    cancel: toSubject,
    fields: moveFields,
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
    cancel: toSubject,
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
