import { randomUUID } from 'node:crypto'
import { DomainError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { MAX_FILE_BYTES } from '#shared/risk/colending/imports/import.ts'
import type { NewUpload } from '#shared/risk/colending/imports/upload-store.ts'
import { BUREAU_MAPPINGS, MAPPINGS_CLAIM, TAPE_MAPPINGS } from '#shared/risk/colending/mappings/registry.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { requestFingerprint } from '#shared/tenancy/idempotency/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { toProblem } from '../../errors.ts'
import { receiveUpload } from '../../import-upload.ts'
import { SelectField } from '../forms/inputs.tsx'
import { type Context, field, type Pages, redirect, type UploadContext } from '../shell/context.ts'
import { Problem } from '../shell/notice.tsx'
import { riskAssets } from './assets.ts'
import { CONSOLE, type Console, sendConsole } from './console.tsx'
import { requireFamily } from './evidence/form.tsx'
import { note } from './evidence/job-context.ts'

const PATH = `${CONSOLE}/imports/new`
const MIB = 1024 * 1024

const FORMATS = [
  { value: '', label: 'Loan tape (CSV), recognised by its header' },
  ...TAPE_MAPPINGS.map(({ id }) => ({ value: id, label: `Loan tape (CSV), ${id}` })),
  ...BUREAU_MAPPINGS.map(({ id, style }) => ({ value: id, label: `Bureau file, ${style}` })),
]

/** Accepts the files of the API, with its validation. */
export function uploadImportPages(pages: Pages): void {
  pages.get(PATH, async (context) => {
    show(context, await requireFamily(context, 'colending'), { format: '', requestKey: randomUUID() })
  })
  pages.upload(PATH, async (context) => {
    const console = await requireFamily(context, 'colending')
    const requestKey = field(context.form, 'requestKey')
    if (!isUuid(requestKey)) throw new NotFoundError('This form is not one of ours.')
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
  const mapping = [...TAPE_MAPPINGS, ...BUREAU_MAPPINGS].find(({ id }) => id === format)
  if (mapping) return { kind: mapping.kind, style: mapping.style, requestedMapping: mapping.id }
  const message = 'The format is none of those that are offered.'
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
    upload: { organisationId, env, ...plan },
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
      <h1>Upload a file</h1>
      <p class="muted">
        A loan tape or a file in the style of a credit bureau: text in UTF-8, {MAX_FILE_BYTES / MIB} MiB at most. What
        cannot be read is reported by line and column; cell values are never repeated. {MAPPINGS_CLAIM}
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
          <input type="file" id="file" name="file" accept=".csv,.txt,.dat,text/csv,text/plain" required />
        </div>
        <progress hidden aria-label="How much is sent" value={0} max={1} />
        <p data-said role="status" />
        <div class="form-foot">
          <button class="primary" type="submit">
            Upload
          </button>
          <a class="button" href={`${console.base}/imports`}>
            Cancel
          </a>
        </div>
      </form>
      <script type="module" src={riskAssets.upload.path} />
    </>,
    status,
  )
}
