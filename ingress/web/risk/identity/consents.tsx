import { z } from 'zod'
import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { ConsentBody } from '#shared/risk/identity/identity-requests.ts'
import { recordConsent, withdrawConsent } from '#shared/risk/operations/manage-consent.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { EmptyCard } from '../../lists/empty-card.tsx'
import type { Column } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import type { Context, Pages } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendList } from '../console.tsx'
import { besideField, evidenceForm, instantField, listOf } from '../evidence/form.tsx'
import { change, common, idIn, ownerOf, pageOf } from './change.ts'
import { fieldLabels, Lists, StatePill } from './parts.tsx'
import { subjectField } from './subject-field.ts'

const RECORD = 'Record a consent'

export async function showConsents(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const { rows, pages } = await readBySeq(context, (before, limit) =>
    listConsents(db, console, { subjectId: null, before, limit }),
  )
  sendList(context, console, {
    title: 'Consents',
    area: 'identity',
    path: '/identity/consents',
    actions: rows.length > 0 ? [['/record', RECORD]] : [],
    intro: <Lists console={console} current="/consents" />,
    columns: consentColumns(console),
    rows: rows.map((one) => consentView(one, toMillis(now()))),
    variant: 'wide-table stacked',
    empty: (
      <EmptyCard
        title="No consents yet"
        action={mayIn(console, 'edit') ? { label: RECORD, href: `${console.base}/identity/consents/record` } : null}
      >
        <p>A registry is queried about a person only with a recorded consent for the purpose and the field.</p>
      </EmptyCard>
    ),
    pages,
  })
}

type ListedConsent = ReturnType<typeof consentView>

// Anchored by us.
const recordOf = ({ record }: ListedConsent) => record as { purpose: string; fields: string[]; expiresAt: string }

export function consentText(one: ListedConsent): string {
  const { purpose, fields, expiresAt } = recordOf(one)
  return `${purpose}: ${fields.map(fieldLabels).join(', ')}, until ${instantText(expiresAt)}`
}

export function consentColumns(console: Console): Column<ListedConsent>[] {
  const base = `${console.base}/identity`
  return [
    {
      title: 'Purpose',
      variant: 'breakable',
      cell: (one) => <a href={`${base}/subjects/${one.subjectId}`}>{recordOf(one).purpose}</a>,
    },
    {
      title: 'Fields',
      variant: 'breakable',
      isLabelled: true,
      cell: (one) => recordOf(one).fields.map(fieldLabels).join(', '),
    },
    { title: 'Valid until', isLabelled: true, cell: (one) => instantText(recordOf(one).expiresAt) },
    {
      title: 'State',
      isLabelled: true,
      cell: ({ state, consentId }) => (
        <>
          <StatePill text={words(state)} />{' '}
          {state === 'LIVE' && mayIn(console, 'edit') && (
            <a href={`${base}/consents/${consentId}/withdraw`}>Withdraw</a>
          )}
        </>
      ),
    },
  ]
}

const YEAR_MS = 365 * 86_400_000

async function consentFields(context: Context, console: Console): Promise<readonly FormItem[]> {
  const inOneYear = new Date(toMillis(context.deps.now()) + YEAR_MS).toISOString().slice(0, 11)
  return [
    await subjectField(context, console, { isRequired: true }),
    { name: 'purpose', label: 'Purpose', isRequired: true, value: 'identity verification' },
    {
      name: 'fields',
      label: 'Fields *',
      kind: 'choices',
      isRequired: true,
      hint: 'that you may query',
      options: [
        { value: 'pan', label: 'PAN' },
        { value: 'ckyc', label: 'CKYC number' },
      ],
    },
    { ...instantField('expiresAt', 'Valid until'), value: `${inOneYear}23:59` },
    {
      summary: 'More options',
      items: [
        { name: 'otherFields', label: 'Other fields', hint: 'names, separated by commas' },
        { name: 'obtainedVia', label: 'Obtained through', hint: 'for example: mobile app' },
        { name: 'noticeSha256', label: 'SHA-256 of the notice that the person read', kind: 'hash' },
      ],
    },
  ]
}

export function consentForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/consents/record',
    title: RECORD,
    intro: 'Record what the person agreed to. The record is anchored; the consent can be withdrawn.',
    button: 'Record',
    fields: consentFields,
    complete: ({ fields, otherFields = '', ...body }) => ({ ...body, fields: listOf(`${fields},${otherFields}`) }),
    errorText: (error) => (error.path.startsWith('fields') ? 'Choose at least one field.' : besideField(error)),
    schema: ConsentBody,
    submit: async (sent) =>
      await change(sent, 'consent.recorded', async (tx, deps) => {
        await recordConsent(tx, ownerOf(sent), sent.body, deps)
        return pageOf(sent.body.subjectId)
      }),
  })
  evidenceForm(pages, {
    ...common,
    path: '/identity/consents/:consent/withdraw',
    title: 'Withdraw a consent',
    cancel: () => '/identity/consents',
    intro: 'Data that was read under it is deleted and no longer valid.',
    button: 'Withdraw',
    fields: [],
    schema: z.strictObject({}),
    async submit(sent) {
      const id = idIn(sent, 'consent')
      return await change(sent, 'consent.withdrawn', async (tx, deps) => {
        await withdrawConsent(tx, ownerOf(sent), id, deps)
        return { next: '/identity/consents', target: id }
      })
    },
  })
}
