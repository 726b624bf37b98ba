import { z } from 'zod'
import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { ConsentBody } from '#shared/risk/identity/identity-requests.ts'
import { recordConsent, withdrawConsent } from '#shared/risk/operations/manage-consent.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import type { Column } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import type { Context, Pages } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendList } from '../console.tsx'
import { evidenceForm, listOf } from '../evidence/form.tsx'
import { change, common, idIn, ownerOf, pageOf } from './change.ts'
import { Lists } from './parts.tsx'

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
    actions: [['/record', 'Record a consent']],
    intro: <Lists console={console} current="/consents" />,
    columns: consentColumns(console),
    rows: rows.map((one) => consentView(one, toMillis(now()))),
    empty: 'No consent is recorded yet.',
    pages,
  })
}

type ListedConsent = ReturnType<typeof consentView>

// Anchored by us.
const recordOf = ({ record }: ListedConsent) => record as { purpose: string; fields: string[]; expiresAt: string }

export function consentColumns(console: Console): Column<ListedConsent>[] {
  const base = `${console.base}/identity`
  return [
    {
      title: 'Purpose',
      variant: 'breakable',
      cell: (one) => <a href={`${base}/subjects/${one.subjectId}`}>{recordOf(one).purpose}</a>,
    },
    { title: 'Fields', variant: 'breakable', cell: (one) => recordOf(one).fields.join(', ') },
    { title: 'Until', cell: (one) => recordOf(one).expiresAt },
    {
      title: 'State',
      cell: ({ state, consentId }) => (
        <>
          {words(state)}{' '}
          {state === 'LIVE' && mayIn(console, 'edit') && (
            <a href={`${base}/consents/${consentId}/withdraw`}>Withdraw</a>
          )}
        </>
      ),
    },
  ]
}

export function consentForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/consents/record',
    title: 'Record a consent',
    button: 'Record',
    fields: [
      { name: 'subjectId', label: 'Subject', isMono: true, isRequired: true },
      { name: 'purpose', label: 'Purpose', isRequired: true, value: 'identity verification' },
      { name: 'fields', label: 'Fields', hint: 'separated by spaces: pan ckyc', isRequired: true, parse: listOf },
      { name: 'expiresAt', label: 'Until', hint: 'YYYY-MM-DDThh:mm:ssZ', isRequired: true },
      { name: 'noticeSha256', label: 'SHA-256 of the notice', isMono: true },
      { name: 'obtainedVia', label: 'Obtained via' },
    ],
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
