import { randomUUID } from 'node:crypto'
import { DomainError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { MAX_FILE_BYTES } from '#shared/risk/colending/imports/import.ts'
import { sampleTape } from '#shared/risk/colending/imports/sample.ts'
import type { NewUpload } from '#shared/risk/colending/imports/upload-store.ts'
import { findFileMapping, MAPPINGS_CLAIM } from '#shared/risk/colending/mappings/registry.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { requestFingerprint } from '#shared/tenancy/idempotency/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { toProblem } from '../../errors.ts'
import { receiveUpload } from '../../import-upload.ts'
import { SelectField } from '../forms/inputs.tsx'
import { Crumb } from '../shell/basics.tsx'
import { type Context, field, type Pages, redirect, type UploadContext } from '../shell/context.ts'
import { Problem } from '../shell/notice.tsx'
import { riskAssets } from './assets.ts'
import { CONSOLE, type Console, loadConsole, sendConsole } from './console.tsx'
import { requireFamily } from './evidence/form.tsx'
import { note } from './evidence/job-context.ts'
import { ExpectedColumns, FORMATS } from './import-formats.tsx'

const PATH = `${CONSOLE}/imports/new`
const MIB = 1024 * 1024

/** Accepts the files of the API, with its validation. */
export function uploadImportPages(pages: Pages): void {
  pages.get(`${CONSOLE}/imports/samples/:mapping`, sendSample)
  pages.get(PATH, async (context) => {
    const format = findFileMapping(context.query.get('format') ?? '')?.id ?? ''
    show(context, await requireFamily(context, 'colending'), { format, requestKey: randomUUID() })
  })
  pages.upload(PATH, async (context) => {
    const console = await requireFamily(context, 'colending')
    const requestKey = field(context.form, 'requestKey')
    if (!isUuid(requestKey)) throw new NotFoundError('The form is incomplete: open it again.')
    const format = field(context.form, 'format')
    try {
      const { importId, isNew } = await receive(context, console, planOf(format), requestKey)
      redirect(context, `${console.base}/imports/${importId}${isNew ? '' : '?again'}`)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const { message, status } = toProblem(error, context.response, context.deps)
      if (status === 413) context.response.setHeader('Connection', 'close')
      show(context, console, { format, requestKey: randomUUID(), message, status: status === 400 ? 422 : status })
    }
  })
}

/** @throws ValidationError */
function planOf(format: string): Pick<NewUpload, 'kind' | 'style' | 'requestedMapping'> {
  if (format === '') return { kind: 'TAPE', style: 'csv', requestedMapping: null }
  const mapping = findFileMapping(format)
  if (mapping) return { kind: mapping.kind, style: mapping.style, requestedMapping: mapping.id }
  const message = 'Unknown format: choose one of the list.'
  throw new ValidationError(message, [{ path: 'format', code: 'UNKNOWN_VALUE', message }])
}

async function receive(
  context: UploadContext,
  console: Console,
  plan: ReturnType<typeof planOf>,
  requestKey: string,
): Promise<{ importId: string; isNew: boolean }> {
  const { organisationId, env } = console
  if (context.file === null) {
    const message = 'No file was chosen.'
    throw new ValidationError(message, [{ path: 'file', code: 'REQUIRED', message }])
  }
  const answer = await receiveUpload(context.deps, context.file, {
    upload: { organisationId, env, ...plan, fileName: context.fileName },
    once: ({ sha256 }) => ({
      scope: { organisationId, env, key: `page-${requestKey}` },
      fingerprint: requestFingerprint({
        method: 'POST',
        route: PATH,
        params: {},
        body: { ...plan, sha256: sha256.toString('hex') },
      }),
      retentionDays: 1,
    }),
    async answer({ importId, isNew }, tx) {
      if (isNew) await note(tx, context, console, 'import.received', importId)
      return jsonAnswer(200, { importId, isNew })
    },
  })
  // Created above.
  return JSON.parse(answer.body) as { importId: string; isNew: boolean }
}

async function sendSample(context: Context): Promise<void> {
  await loadConsole(context, 'view')
  const mapping = findFileMapping(context.params.mapping ?? '')
  if (mapping?.kind !== 'TAPE') throw new NotFoundError('There is no such sample.')
  context.response
    .status(200)
    .set('Content-Type', 'text/csv; charset=utf-8')
    .set('Content-Disposition', `attachment; filename="sample-${mapping.sourceFormat}.csv"`)
    .end(sampleTape(mapping))
}

interface Shown {
  format: string
  requestKey: string
  message?: string
  status?: number
}

function show(context: Context, console: Console, { format, requestKey, message, status = 200 }: Shown): void {
  sendConsole(
    context,
    console,
    { title: 'Upload a file', area: 'imports' },
    <>
      <Crumb href={`${console.base}/imports`} label="Imports" />
      <h1>Upload a file</h1>
      <p class="muted">
        A loan tape or a file in the style of a credit bureau. After the upload you see the accepted rows, and each
        invalid cell by line and column, without its content.
      </p>
      <Problem text={message} />
      <form
        method="post"
        action={`${console.base}/imports/new`}
        encType="multipart/form-data"
        class="card stack check-form"
        data-upload={MAX_FILE_BYTES}
      >
        <input type="hidden" name="_csrf" value={context.csrf} />
        <input type="hidden" name="requestKey" value={requestKey} />
        <SelectField label="Format" name="format" value={format} options={FORMATS} />
        <div class="field">
          <label for="file">File</label>
          <input
            type="file"
            id="file"
            name="file"
            accept=".csv,.txt,.dat,text/csv,text/plain"
            required
            aria-describedby="file-hint"
          />
          <p class="hint" id="file-hint">
            UTF-8 text, at most {MAX_FILE_BYTES / MIB} MiB. Save a spreadsheet as CSV first.
          </p>
        </div>
        <progress hidden aria-label="Upload progress" value={0} max={1} />
        <p role="status" />
        <div class="form-foot">
          <button class="primary" type="submit">
            Upload
          </button>
          <a class="button" href={`${console.base}/imports`}>
            Cancel
          </a>
        </div>
      </form>
      <ExpectedColumns base={`${console.base}/imports`} chosen={format} />
      <p class="hint">{MAPPINGS_CLAIM}</p>
      <script type="module" src={riskAssets.upload.path} />
    </>,
    status,
  )
}
