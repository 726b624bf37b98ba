import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { Said, Table } from '../evidence/parts.tsx'
import { Lists, Pager, pageOf } from './parts.tsx'

export async function showConsents(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const { page, nextCursor, isFirst } = await pageOf(context, (before, limit) =>
    listConsents(db, console, { subjectId: null, before, limit }),
  )
  const base = `${console.base}/identity/consents`
  sendConsole(
    context,
    console,
    { title: 'Consents', area: 'identity' },
    <>
      <Said context={context} />
      <div class="page-head">
        <h1>Consents</h1>
        {mayIn(console, 'edit') && (
          <a class="button primary" href={`${base}/record`}>
            Record a consent
          </a>
        )}
      </div>
      <Lists console={console} current="/consents" />
      {page.length === 0 ? (
        <p class="empty">No consent is recorded yet.</p>
      ) : (
        <ConsentTable console={console} list={page.map((one) => consentView(one, toMillis(now())))} />
      )}
      <Pager path={base} isFirst={isFirst} nextCursor={nextCursor} />
    </>,
  )
}

/** Consents as they were anchored. */
export function ConsentTable({ console, list }: { console: Console; list: ReturnType<typeof consentView>[] }) {
  return (
    <Table label="Consents" columns={['Purpose', 'Fields', 'Until', 'State']}>
      {list.map(({ consentId, subjectId, state, record }) => {
        // Anchored by us.
        const { purpose, fields, expiresAt } = record as { purpose: string; fields: string[]; expiresAt: string }
        return (
          <tr key={consentId}>
            <td class="breakable">
              <a href={`${console.base}/identity/subjects/${subjectId}`}>{purpose}</a>
            </td>
            <td class="breakable">{fields.join(', ')}</td>
            <td>{expiresAt}</td>
            <td>
              {words(state)}{' '}
              {state === 'LIVE' && mayIn(console, 'edit') && (
                <a href={`${console.base}/identity/consents/${consentId}/withdraw`}>Withdraw</a>
              )}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}
