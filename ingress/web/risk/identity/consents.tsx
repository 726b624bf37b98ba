import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import type { Column } from '../../lists/list.tsx'
import { readBySeq } from '../../lists/paging.ts'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendList } from '../console.tsx'
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

/** Consents as they were anchored. */
export function consentColumns(console: Console): Column<ListedConsent>[] {
  const base = `${console.base}/identity`
  return [
    {
      title: 'Purpose',
      look: 'breakable',
      cell: (one) => <a href={`${base}/subjects/${one.subjectId}`}>{recordOf(one).purpose}</a>,
    },
    { title: 'Fields', look: 'breakable', cell: (one) => recordOf(one).fields.join(', ') },
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
