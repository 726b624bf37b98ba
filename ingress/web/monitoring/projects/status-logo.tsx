import { DomainError, NotFoundError } from '#shared/errors.ts'
import { changeStatusLogo } from '#shared/monitoring/operations/status-page.ts'
import { MAX_LOGO_BYTES } from '#shared/monitoring/pages/logo.ts'
import { findStatusLogo } from '#shared/monitoring/pages/status-page-store.ts'
import { PayloadTooLargeError } from '../../../middleware/request-safety.ts'
import { ButtonForm } from '../../forms/form.tsx'
import { personOf } from '../../shell/audit.ts'
import { type Context, type Pages, redirect, type UploadContext } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { requireProject } from '../../shell/workspace.ts'

/** Larger uploads are read before the refusal, because a browser shows its own error page if an upload is cut off. */
const MAX_READ_BYTES = 20 * MAX_LOGO_BYTES

/** Serving the logo needs only the address of the status page. */
export function statusLogoPages(pages: Pages): void {
  pages.get('/status/:token/logo', sendLogo)
  pages.upload('/projects/:project/status-page/logo', upload)
  pages.post('/projects/:project/status-page/logo/remove', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    await changeStatusLogo(context.deps.db, personOf(context, session), { project, bytes: null })
    back(context, project.uuid, { notice: 'The logo is removed.' })
  })
}

async function sendLogo(context: Context): Promise<void> {
  const token = context.params.token ?? ''
  const logo = /^[\w-]{22}$/.test(token) ? await findStatusLogo(context.deps.db, token) : null
  if (!logo) throw new NotFoundError('There is no logo at this address.')
  context.response
    .set({
      'Content-Type': logo.type,
      // Opened as a document it must be rendered as an image only, because its bytes are untrusted.
      'Content-Security-Policy': "default-src 'none'; sandbox",
      // A new logo has a new address.
      'Cache-Control': 'public, max-age=86400',
    })
    .end(logo.bytes)
}

async function upload(context: UploadContext): Promise<void> {
  const { project, session } = await requireProject(context, 'manage')
  const bytes = await readPicture(context.file)
  try {
    if (bytes.length === 0) return back(context, project.uuid, { problem: 'No picture was chosen.' })
    await changeStatusLogo(context.deps.db, personOf(context, session), { project, bytes })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return back(context, project.uuid, { problem: error.message })
  }
  back(context, project.uuid, { notice: 'The logo is shown above the status page.' })
}

/** @returns more than the maximum size of a logo if the upload is too large, but not all of it */
async function readPicture(file: UploadContext['file']): Promise<Buffer> {
  const pieces: Buffer[] = []
  let read = 0
  for await (const piece of file ?? []) {
    if (read <= MAX_LOGO_BYTES) pieces.push(Buffer.from(piece))
    read += piece.length
    if (read > MAX_READ_BYTES) throw new PayloadTooLargeError(`The logo must be at most ${MAX_LOGO_BYTES / 1024} kB.`)
  }
  return Buffer.concat(pieces)
}

function back(context: Context, projectUuid: string, flash: { notice: string } | { problem: string }): void {
  const path = `/projects/${projectUuid}/status-page`
  setFlash(context, path, flash)
  redirect(context, path)
}

export function LogoForm(props: { context: Context; base: string; page: { path: string; logoDigest: string | null } }) {
  const { context, base, page } = props
  return (
    <div class="logo-form">
      <form method="post" action={`${base}/status-page/logo`} enctype="multipart/form-data" class="inline-fields">
        <input type="hidden" name="_csrf" value={context.csrf} />
        <div class="field">
          <label for="logo">Logo</label>
          <input
            type="file"
            id="logo"
            name="logo"
            accept="image/png,image/jpeg,image/webp"
            aria-describedby="logo-hint"
            required
          />
        </div>
        <button type="submit">{page.logoDigest === null ? 'Upload' : 'Replace'}</button>
      </form>
      <p class="hint" id="logo-hint">
        PNG, JPEG or WebP, at most {MAX_LOGO_BYTES / 1024} kB. It is shown above the title.
      </p>
      {page.logoDigest !== null && (
        <div class="row">
          <StatusLogo page={page} />
          <ButtonForm
            context={context}
            action={`${base}/status-page/logo/remove`}
            confirm="Remove the logo? The status page no longer shows it."
            yes="Remove the logo"
            label="Remove the logo"
            variant="danger"
          />
        </div>
      )}
    </div>
  )
}

/** Decorative: the title beside it names the owner. */
export function StatusLogo({ page }: { page: { path: string; logoDigest: string | null } }) {
  const { path, logoDigest } = page
  return logoDigest === null ? null : <img class="status-logo" src={`${path}/logo?v=${logoDigest}`} alt="" />
}
