import { hasEnded, type Import } from '#shared/risk/colending/imports/import.ts'
import { listImports } from '#shared/risk/colending/imports/import-store.ts'
import { microsOfDate } from '#shared/time.ts'
import { EmptyCard } from '../lists/empty-card.tsx'
import { Ago, CodeBlock } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'
import { type Console, loadConsole, mayIn, sendList } from './console.tsx'
import { count, counted } from './counts.ts'
import { formatName } from './import-formats.tsx'

const SHOWN = 50
const POLL_SECONDS = 3

export async function showImports(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now, config } = context.deps
  const imports = await listImports(db, console, { kind: null, before: null, limit: SHOWN })
  const isRunning = imports.some(({ state }) => !hasEnded(state))
  sendList(context, console, {
    title: 'Imports',
    area: 'imports',
    path: '/imports',
    variant: 'wide-table stacked',
    ...(isRunning && { pollSeconds: POLL_SECONDS }),
    actions: [['/new', 'Upload a file']],
    intro: (
      <p class="muted">
        Loan tapes and files in the style of a credit bureau, with the rows that were accepted and rejected.
      </p>
    ),
    columns: [
      {
        title: 'File',
        variant: 'breakable',
        cell: (found) => <a href={`${console.base}/imports/${found.id}`}>{nameOf(found)}</a>,
      },
      { title: 'Format', isLabelled: true, cell: (found) => formatOf(found) },
      { title: 'State', cell: (found) => <State found={found} /> },
      { title: 'Accepted', isNumber: true, isLabelled: true, cell: (found) => rowsOf(found, 'accepted') },
      { title: 'Rejected', isNumber: true, isLabelled: true, cell: (found) => rowsOf(found, 'rejected') },
      { title: 'Received', cell: ({ receivedAt }) => <Ago at={microsOfDate(receivedAt)} now={now()} /> },
    ],
    rows: imports,
    empty: <NoImports console={console} />,
    foot: (
      <>
        <h2>With the API</h2>
        <CodeBlock text={uploadLines(config.publicUrl)} label="upload" />
      </>
    ),
  })
}

function NoImports({ console }: { console: Console }) {
  return (
    <EmptyCard
      title="No imports yet"
      action={mayIn(console, 'edit') && { label: 'Upload the first file', href: `${console.base}/imports/new` }}
    >
      <ol>
        <li>Upload a loan tape (CSV) or a bureau file. The form lists the expected columns, with sample files.</li>
        <li>See which rows were accepted, and why a cell was rejected.</li>
        <li>The accepted rows get an anchored root, which proves later that they are unchanged.</li>
      </ol>
    </EmptyCard>
  )
}

/** Nothing of a failed file is imported, so it has no counts. */
function rowsOf({ state, progress }: Import, name: 'accepted' | 'rejected') {
  if (!hasEnded(state) || state === 'FAILED') return '—'
  const text = count(progress[name])
  return name === 'rejected' && progress.rejected > 0 ? <strong class="is-bad">{text}</strong> : text
}

function uploadLines(publicUrl: string): string {
  return [
    `curl --data-binary @tape.csv ${publicUrl}/v1/colending/loan-tapes \\`,
    '  -H "Authorization: Bearer $TOKEN" -H "Content-Type: text/csv" -H "x-idempotency-key: tape-1"',
  ].join('\n')
}

/** Files of the API have no name. */
export function nameOf({ fileName, sha256 }: Import): string {
  return fileName ?? `File sent with the API, ${sha256.toString('hex', 0, 4)}`
}

export function formatOf({ mapping, requestedMapping, style }: Import): string {
  return formatName(mapping ?? requestedMapping ?? (style === 'csv' ? null : `${style}-accounts`))
}

/** Rejected rows are red, as is a file of which nothing was imported. */
export function State({ found: { state, progress } }: { found: Import }) {
  if (state === 'FAILED') return <span class="pill bad">failed: nothing imported</span>
  if (!hasEnded(state)) return <span class="pill">{state === 'RECEIVED' ? 'waiting' : 'reading'}</span>
  if (progress.rejected > 0) return <span class="pill bad">{counted(progress.rejected, 'row')} rejected</span>
  if (progress.errors > 0) return <span class="pill late">{counted(progress.errors, 'cell')} invalid</span>
  return <span class="pill good">completed</span>
}
