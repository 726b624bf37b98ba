import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { DomainError, type FieldError, NotFoundError, validationError } from '#shared/errors.ts'
import { parseWith } from '#shared/parse-with.ts'
import { requirePool } from '#shared/risk/operations/pool-requests.ts'
import { addToPool, createPool } from '#shared/risk/operations/pools.ts'
import { atLine, MAX_CSV_BYTES, POOL_COLUMNS, parsePoolCsv, samplePoolCsv } from '#shared/risk/pools/pool-csv.ts'
import { PoolBody } from '#shared/risk/pools/requests.ts'
import type { Pool } from '#shared/risk/pools/store.ts'
import { requestFingerprint } from '#shared/tenancy/idempotency/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { toProblem } from '../../../errors.ts'
import { type FieldErrors, Fields, type FormField } from '../../forms/fields.tsx'
import { Table } from '../../lists/list.tsx'
import { Crumb } from '../../shell/basics.tsx'
import { type Context, field, type Pages, redirect, type UploadContext } from '../../shell/context.ts'
import { Problem } from '../../shell/notice.tsx'
import { CONSOLE, type Console, loadConsole, sendConsole } from '../console.tsx'
import { requireFamily } from './form.tsx'
import { doOnce, note } from './job-context.ts'

const NEW = '/pools/new'
const ADD = '/pools/:pool/add'
const SHOWN = 20

const FIELDS: readonly FormField[] = [
  { name: 'name', label: 'Name', hint: 'For example: July receivables.', isRequired: true },
  { name: 'dealId', label: 'Deal', hint: 'Optional: your own number for the deal.' },
]

const NamedBody = z.strictObject({ name: PoolBody.shape.name, dealId: PoolBody.shape.dealId })

/** Creates pools and adds receivables from CSV files, with the validation of the API. */
export function poolUploadPages(pages: Pages): void {
  pages.get(`${CONSOLE}/pools/sample.csv`, async (context) => {
    await loadConsole(context, 'view')
    context.response
      .status(200)
      .set('Content-Type', 'text/csv; charset=utf-8')
      .set('Content-Disposition', 'attachment; filename="sample-pool.csv"')
      .end(samplePoolCsv())
  })
  for (const path of [NEW, ADD]) {
    pages.get(CONSOLE + path, async (context) => {
      const console = await requireFamily(context, 'securitisation')
      show(context, console, { pool: await poolOf(context, console), requestKey: randomUUID() })
    })
    pages.upload(CONSOLE + path, async (context) => {
      const console = await requireFamily(context, 'securitisation')
      const requestKey = field(context.form, 'requestKey')
      if (!isUuid(requestKey)) throw new NotFoundError('The form is incomplete: open it again.')
      const pool = await poolOf(context, console)
      try {
        redirect(context, console.base + (await receive(context, console, { pool, requestKey })))
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        const { message, errors, status } = toProblem(error, context.response, context.deps)
        const failed = { message, errors, status: status === 400 ? 422 : status }
        show(context, console, { pool, requestKey: randomUUID(), ...failed })
      }
    })
  }
}

/** Returns null for a new pool. @throws NotFoundError */
async function poolOf(context: Context, console: Console): Promise<Pool | null> {
  const { pool } = context.params
  return pool === undefined ? null : await requirePool(context.deps.db, console, pool)
}

/** Returns the path of the pool. A repeated submission of the form returns the first result. */
async function receive(
  context: UploadContext,
  console: Console,
  { pool, requestKey }: { pool: Pool | null; requestKey: string },
): Promise<string> {
  const { organisationId, env } = console
  const { secrets } = context.deps
  const bytes = await readFile(context.file)
  const entered = FIELDS.flatMap(({ name }) =>
    field(context.form, name) === '' ? [] : [[name, field(context.form, name)]],
  )
  const named = pool ? null : parseWith(NamedBody, Object.fromEntries(entered), 'the form')
  const { receivables, lines } = parsePoolCsv(textOf(bytes))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const once = {
    scope: { organisationId, env, key: `page-${requestKey}` },
    fingerprint: requestFingerprint({
      method: 'POST',
      route: pool ? ADD : NEW,
      params: context.params,
      body: { ...named, sha256 },
    }),
  }
  try {
    return await doOnce({ context, console, once, body: null }, async (tx, enqueue) => {
      const deps = { enqueue, secrets }
      const { id } = named
        ? await createPool(tx, console, { ...named, receivables }, deps)
        : await addToPool(tx, console, pool?.id ?? '', receivables, deps)
      await note(tx, context, console, pool ? 'pool.extended' : 'pool.created', id)
      return `/pools/${id}`
    })
  } catch (error) {
    if (!(error instanceof DomainError) || !('errors' in error)) throw error
    throw validationError((error.errors as readonly FieldError[]).map((one) => atLine(one, lines)))
  }
}

/** @throws ValidationError */
async function readFile(file: AsyncIterable<Buffer> | null): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of file ?? []) {
    length += piece.length
    if (length > MAX_CSV_BYTES) throw refused('TOO_LARGE', `the file is larger than ${MAX_CSV_BYTES / 1024} KiB`)
    pieces.push(Buffer.from(piece))
  }
  if (length === 0) throw refused('REQUIRED', 'Choose a file that is not empty')
  return Buffer.concat(pieces)
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refused('FORMAT', 'the file is not UTF-8 text')
  }
}

function refused(code: FieldError['code'], message: string) {
  return validationError([{ path: 'file', code, message }])
}

interface Shown {
  pool: Pool | null
  requestKey: string
  message?: string
  errors?: readonly FieldError[]
  status?: number
}

function show(
  context: Context,
  console: Console,
  { pool, requestKey, message, errors = [], status = 200 }: Shown,
): void {
  const title = pool ? `Add receivables to ${pool.name}` : 'Create a pool'
  const beside: FieldErrors = new Map(
    errors.filter(({ path }) => path !== 'file').map((one) => [one.path, one.message]),
  )
  const back = `${console.base}/pools${pool ? `/${pool.id}` : ''}`
  const inFile = errors.filter(({ path }) => path === 'file')
  const form = 'form' in context ? (context as UploadContext).form : new URLSearchParams()
  const fileName = 'form' in context ? ((context as UploadContext).fileName ?? '') : ''
  const values = Object.fromEntries(FIELDS.map(({ name }) => [name, form.get(name) ?? undefined]))
  sendConsole(
    context,
    console,
    { title, area: 'pools' },
    <>
      <Crumb href={back} label={pool ? pool.name : 'Pools'} />
      <h1>{title}</h1>
      <p class="muted">
        Upload a CSV file with one receivable per line. Add more files later. If a line has an error, nothing of the
        file is stored.
      </p>
      <form
        method="post"
        action={console.base + (pool ? `/pools/${pool.id}/add` : NEW)}
        encType="multipart/form-data"
        class="card stack check-form shows-required"
      >
        <Problem text={inFile.length === 0 ? message : refusalText(fileName)} />
        <FileErrors errors={inFile} />
        <input type="hidden" name="_csrf" value={context.csrf} />
        <input type="hidden" name="requestKey" value={requestKey} />
        {!pool && <Fields items={FIELDS} values={values} errors={beside} />}
        <div class="field">
          <label for="file">File</label>
          <input type="file" id="file" name="file" accept=".csv,text/csv" required aria-describedby="file-hint" />
          <p class="hint" id="file-hint">
            CSV in UTF-8: at most 1,000 lines and {MAX_CSV_BYTES / 1024} KiB, with the columns below.{' '}
            <a href={`${console.base}/pools/sample.csv`}>Download a sample file (CSV)</a>
          </p>
        </div>
        <div class="form-foot">
          <button class="primary" type="submit">
            {pool ? 'Add the receivables' : 'Create the pool'}
          </button>
          <a class="button" href={back}>
            Cancel
          </a>
        </div>
      </form>
      <h2>Expected columns</h2>
      <Table
        label="Expected columns"
        variant="stacked"
        columns={[
          { title: 'Column', variant: 'mono', cell: ({ name }) => name },
          { title: 'Contains', isLabelled: true, cell: ({ meaning }) => meaning },
          { title: 'Required', isLabelled: true, cell: ({ isRequired }) => (isRequired ? 'yes' : 'no') },
          { title: 'Sample', variant: 'mono', isLabelled: true, cell: ({ sample }) => sample },
        ]}
        rows={POOL_COLUMNS}
      />
    </>,
    status,
  )
}

function refusalText(fileName: string): string {
  const name = fileName === '' ? 'The file' : fileName
  return `${name} was not stored. Correct the lines below in your file, then choose it again.`
}

/** The line is part of the message. */
function FileErrors({ errors }: { errors: readonly FieldError[] }) {
  if (errors.length === 0) return null
  return (
    <ul class="field-error">
      {errors.slice(0, SHOWN).map(({ message }) => (
        <li key={message}>{message.charAt(0).toUpperCase() + message.slice(1)}</li>
      ))}
      {errors.length > SHOWN && <li>and {errors.length - SHOWN} more</li>}
    </ul>
  )
}
