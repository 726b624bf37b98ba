import { NotFoundError } from '#shared/errors.ts'
import {
  hasEnded,
  type Import,
  type ListedLine,
  OBSERVATIONS,
  type Observation,
} from '#shared/risk/colending/imports/import.ts'
import { findOwnImport } from '#shared/risk/colending/imports/import-store.ts'
import { listErrors } from '#shared/risk/colending/imports/row-store.ts'
import { ERRORS_SHOWN, errorView, type ImportView, listedImportView } from '#shared/risk/colending/imports/view.ts'
import { exportImportErrors } from '#shared/risk/operations/imports.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { Ago, Copyable, Crumb, Fact } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from './console.tsx'
import { count, counted } from './counts.ts'
import { proveRecord, RecordAnchor } from './evidence/record-anchor.tsx'
import { ImportErrors } from './import-errors.tsx'
import { ExpectedColumns } from './import-formats.tsx'
import { formatOf, nameOf, State, showImports } from './import-list.tsx'

const POLL_SECONDS = 3

/** Shows progress, unreadable rows and the anchored root of loan tapes and bureau files. */
export function importPages(pages: Pages): void {
  pages.get(`${CONSOLE}/imports`, showImports)
  pages.get(`${CONSOLE}/imports/:import`, showImport)
  pages.get(`${CONSOLE}/imports/:import/errors.csv`, downloadErrors)
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
  const { db, config } = context.deps
  const isOver = hasEnded(found.state)
  const page = { after: null, limit: 2 * ERRORS_SHOWN }
  const errors = isOver ? (await listErrors(db, found.id, { ...page, isSkipped: false })).map(errorView) : []
  const skipped = isOver ? await listErrors(db, found.id, { ...page, isSkipped: true }) : []
  const view = listedImportView(found)
  const proven = view.record && (await proveRecord(db, view.record))
  const isFinal = isOver && (proven === null || proven.place !== null)
  const path = `${console.base}/imports/${found.id}`
  const name = nameOf(found)
  sendConsole(
    context,
    console,
    { title: name, area: 'imports', ...(isFinal ? {} : { pollSeconds: POLL_SECONDS }) },
    <>
      <Crumb href={`${console.base}/imports`} label="Imports" />
      <h1 class="breakable">
        {name} <State found={found} />
      </h1>
      {context.query.has('again') && (
        <p class="notice" role="status">
          This file was imported before. This is the earlier import: nothing was imported twice.
        </p>
      )}
      <Result view={view} />
      {isOver && (view.failure !== null || view.counts.errors > 0) && mayIn(console, 'edit') && (
        <p class="row">
          <a
            class="button primary"
            href={`${console.base}/imports/new${found.requestedMapping === null ? '' : `?format=${found.requestedMapping}`}`}
          >
            Upload the corrected file
          </a>
        </p>
      )}
      {errors.length > 0 && view.failure === null && <h2>Invalid cells</h2>}
      <ImportErrors errors={errors} found={found} />
      {errors.length > 0 && (
        <p>
          {view.counts.errors > ERRORS_SHOWN && `The first ${ERRORS_SHOWN} of ${count(view.counts.errors)}. `}
          <a href={`${path}/errors.csv`}>Download all errors (CSV)</a>
        </p>
      )}
      {isOver && view.failure === null && <Rows counts={view.counts} />}
      <Remarks view={view} skipped={skipped} />
      {view.failure?.code === 'FORMAT_UNKNOWN' && (
        <ExpectedColumns base={`${console.base}/imports`} chosen={view.failure.header?.mapping ?? ''} />
      )}
      <h2>File</h2>
      <dl class="facts">
        <Fact title="Format">{formatOf(found)}</Fact>
        <Fact title="Received">
          <Ago at={microsOfDate(found.receivedAt)} now={context.deps.now()} />
        </Fact>
        <Fact title="Size">{count(found.bytes)} bytes</Fact>
        <Fact title="SHA-256 of the file">
          <Copyable text={view.sha256} label="the hash of the file" />
        </Fact>
        {view.record && (
          <Fact title={`Root over ${counted(view.record.rows, 'row')}`}>
            <Copyable text={view.record.root} label="the root" />
          </Fact>
        )}
      </dl>
      {proven && <RecordAnchor proven={proven} publicUrl={config.publicUrl} env={console.env} />}
    </>,
  )
}

type View = ReturnType<typeof listedImportView>

/** Shows the progress or the problem, with the next step. */
function Result({ view: { status, counts, failure } }: { view: View }) {
  if (failure) {
    return (
      <p class="problem" role="alert">
        Line {failure.line}: {failure.message}. Nothing of this file was imported.{' '}
        {failure.code === 'FORMAT_UNKNOWN' && 'Compare its header with the expected columns below. '}
        Correct the file and upload it again.
      </p>
    )
  }
  if (status === 'RECEIVED' || status === 'RUNNING') {
    return (
      <p class="notice" role="status">
        {counts.records === 0 ? 'The file waits for a worker.' : `${counted(counts.records, 'record')} read so far.`}{' '}
        Rows and errors are shown once the whole file is read.
      </p>
    )
  }
  if (counts.rejected === 0) {
    return (
      <p class="notice" role="status">
        {counted(counts.accepted, 'row')} accepted, none rejected.
        {counts.errors > 0 &&
          ` ${counted(counts.errors, 'invalid cell')} left out: you can correct the cells below and upload the file again.`}
        {counts.accepted > 0 && ' The root over them is anchored below: it proves later that they are unchanged.'}
      </p>
    )
  }
  return (
    <p class="problem" role="status">
      {counted(counts.rejected, 'row')} rejected, {count(counts.accepted)} accepted. Correct the cells below in your
      file and upload the whole file again. It becomes a new import; this one stays as it is.
    </p>
  )
}

/** The lines of the table add up to its total. */
function Rows({ counts }: { counts: ImportView['counts'] }) {
  const { records, accepted, rejected, skipped, persons } = counts
  const parts = [
    { label: 'Accepted', value: accepted },
    { label: 'Rejected', value: rejected },
    { label: 'Skipped: text before the header, totals', value: skipped },
    { label: 'Header', value: records - accepted - rejected - skipped },
  ]
  return (
    <section class="card table-card sum-table" aria-labelledby="rows">
      <h2 id="rows">Rows of the file</h2>
      <table class="plain-table">
        <tbody>
          {parts.map(({ label, value }) => (
            <tr key={label} class={label === 'Rejected' && value > 0 ? 'is-rejected' : undefined}>
              <th scope="row">{label}</th>
              <td class="number figure">{count(value)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Records in the file</th>
            <td class="number figure">{count(records)}</td>
          </tr>
        </tfoot>
      </table>
      {persons > 0 && <p class="hint">{counted(persons, 'segment')} of persons within these records, not stored.</p>}
    </section>
  )
}

const OBSERVED: Readonly<Record<Observation, string>> = {
  SHARES_NOT_100: 'shares do not add up to 100 %',
  SHARE_BELOW_10: 'a share is below 10 %',
  DPD_OUTSIDE_ASSET_CLASS: 'days past due do not match the asset class',
}

const SKIPPED: Readonly<Record<string, string>> = { BANNER: 'text before the header', TOTALS: 'totals' }

function Remarks({ view: { unmapped, observations }, skipped }: { view: View; skipped: readonly ListedLine[] }) {
  const observed = OBSERVATIONS.flatMap((name) => {
    const rows = observations[name] ?? 0
    return rows === 0 ? [] : [`${OBSERVED[name]} in ${counted(rows, 'row')}`]
  })
  const left = skipped.map(({ line, code }) => `line ${line} (${SKIPPED[code] ?? words(code)})`)
  if (observed.length + left.length + unmapped.length === 0) return null
  return (
    <dl class="facts">
      {left.length > 0 && <Fact title="Skipped">{left.join(', ')}</Fact>}
      {observed.length > 0 && <Fact title="Accepted, but">{observed.join('; ')}</Fact>}
      {unmapped.length > 0 && <Fact title="Columns not used">{unmapped.join(', ')}</Fact>}
    </dl>
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
