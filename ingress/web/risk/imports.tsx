import { NotFoundError } from '#shared/errors.ts'
import { hasEnded, type Import } from '#shared/risk/colending/imports/import.ts'
import { findOwnImport, listImports } from '#shared/risk/colending/imports/import-store.ts'
import { listErrors } from '#shared/risk/colending/imports/row-store.ts'
import { ERRORS_SHOWN, errorView, listedImportView } from '#shared/risk/colending/imports/view.ts'
import { exportImportErrors } from '#shared/risk/operations/imports.ts'
import { microsOfDate } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { Table } from '../lists/list.tsx'
import { Ago, CodeBlock, Copyable } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, type Console, loadConsole, sendConsole, sendList } from './console.tsx'

const SHOWN = 50
const POLL_SECONDS = 3

/** Shows progress, unreadable rows and the anchored root of loan tapes and bureau files. */
export function importPages(pages: Pages): void {
  pages.get(`${CONSOLE}/imports`, showImports)
  pages.get(`${CONSOLE}/imports/:import`, showImport)
  pages.get(`${CONSOLE}/imports/:import/errors.csv`, downloadErrors)
}

async function showImports(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now, config } = context.deps
  const imports = await listImports(db, console, { kind: null, before: null, limit: SHOWN })
  const isRunning = imports.some(({ state }) => !hasEnded(state))
  sendList(context, console, {
    title: 'Imports',
    area: 'imports',
    path: '/imports',
    ...(isRunning && { pollSeconds: POLL_SECONDS }),
    actions: [['/new', 'Upload a file']],
    intro: (
      <p class="muted">
        Loan tapes and files in the style of credit bureaus. Mappings are adapter shims: each describes the style of a
        payload and nothing else, and claims no partnership.
      </p>
    ),
    columns: [
      {
        title: 'File',
        cell: ({ id, mapping, requestedMapping, style }) => (
          <a href={`${console.base}/imports/${id}`}>{mapping ?? requestedMapping ?? style}</a>
        ),
      },
      { title: 'State', cell: (found) => <State found={found} /> },
      { title: 'Rows', variant: 'figure', cell: ({ progress }) => progress.accepted },
      { title: 'Errors', variant: 'figure', cell: ({ progress }) => progress.errors },
      { title: 'Received', cell: ({ receivedAt }) => <Ago at={microsOfDate(receivedAt)} now={now()} /> },
    ],
    rows: imports,
    empty: 'Nothing was imported yet.',
    foot: (
      <>
        <h2>By the API</h2>
        <CodeBlock text={uploadLines(config.publicUrl)} label="upload" />
      </>
    ),
  })
}

function uploadLines(publicUrl: string): string {
  return [
    `curl --data-binary @tape.csv ${publicUrl}/v1/colending/loan-tapes \\`,
    '  -H "Authorization: Bearer $TOKEN" -H "Content-Type: text/csv" -H "x-idempotency-key: tape-1"',
  ].join('\n')
}

function State({ found: { state } }: { found: Import }) {
  return <span class={state === 'FAILED' ? 'pill bad' : 'pill good'}>{state.toLowerCase().replaceAll('_', ' ')}</span>
}

/** @throws NotFoundError alike for unknown imports and those of other organisations */
async function requireImport(context: Context, console: Console): Promise<Import> {
  const id = context.params.import ?? ''
  const { db } = context.deps
  const found = isUuid(id)
    ? ((await findOwnImport(db, console, 'TAPE', id)) ?? (await findOwnImport(db, console, 'BUREAU', id)))
    : undefined
  if (!found) throw new NotFoundError('There is no such import, or it is not one of yours.')
  return found
}

async function showImport(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const found = await requireImport(context, console)
  const isOver = hasEnded(found.state)
  const page = { after: null, limit: ERRORS_SHOWN, isSkipped: false }
  const errors = isOver ? (await listErrors(context.deps.db, found.id, page)).map(errorView) : []
  const { counts, failure, record, sha256 } = listedImportView(found)
  const path = `${console.base}/imports/${found.id}`
  sendConsole(
    context,
    console,
    { title: 'Import', area: 'imports', ...(isOver ? {} : { pollSeconds: POLL_SECONDS }) },
    <>
      <h1>
        Import <State found={found} />
      </h1>
      {context.query.has('again') && (
        <p class="notice" role="status">
          The same bytes were imported before: this is that import.
        </p>
      )}
      {!isOver && (
        <p class="notice" role="status">
          {counts.records === 0
            ? 'The file waits for a worker.'
            : `${counts.records.toLocaleString('en-IN')} records are read so far.`}{' '}
          Rows and errors show once the whole file is read.
        </p>
      )}
      {failure && (
        <p class="field-error" role="alert">
          Line {failure.line}: {failure.message}.
        </p>
      )}
      <section class="card" aria-label="Counts">
        <dl class="facts">
          {Object.entries({ ...counts, bytes: found.bytes }).map(([name, count]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="figure">{count}</dd>
            </div>
          ))}
          <div>
            <dt>File SHA-256</dt>
            <dd>
              <Copyable text={sha256} label="the hash of the file" />
            </dd>
          </div>
        </dl>
      </section>
      {record && (
        <section class="card" aria-labelledby="anchor">
          <h2 id="anchor">Anchor</h2>
          <p>Root over {record.rows} rows:</p>
          <p>
            <Copyable text={record.root} label="the root" />
          </p>
          <p>
            <Copyable text={record.anchor.txId} label="the transaction" />
          </p>
        </section>
      )}
      <Table
        label="Errors"
        columns={[
          { title: 'Line', variant: 'figure', cell: ({ line }) => line },
          { title: 'Column', variant: 'mono breakable', cell: ({ column }) => column ?? '—' },
          { title: 'Error', cell: ({ message }) => message },
        ]}
        rows={errors}
      />
      {errors.length > 0 && (
        <p>
          {counts.errors > errors.length && `The first ${errors.length} of ${counts.errors}. `}
          <a href={`${path}/errors.csv`}>All errors as CSV</a>
        </p>
      )}
    </>,
  )
}

async function downloadErrors(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const found = await requireImport(context, console)
  context.response
    .status(200)
    .set('Content-Type', 'text/csv; charset=utf-8')
    .set('Content-Disposition', `attachment; filename="errors-${found.id}.csv"`)
    .end(await exportImportErrors(context.deps.db, found))
}
