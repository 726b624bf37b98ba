import { NotFoundError } from '#shared/errors.ts'
import { createKey } from '#shared/monitoring/operations/create-key.ts'
import { revokeKey } from '#shared/monitoring/operations/revoke-key.ts'
import { personOf } from '../../shell/audit.ts'
import { type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { requireProject } from '../../shell/workspace.ts'

export function keyPages(pages: Pages): void {
  pages.post('/projects/:project/keys', create)
  pages.post('/projects/:project/keys/:key/revoke', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    const { deps, params } = context
    await revokeKey(deps.db, personOf(context, session), { project, keyId: Number(params.key) }, deps)
    redirect(context, `/projects/${project.uuid}/settings?done=key-revoked`)
  })
}

/** Makes a key, which the next page shows once. */
async function create(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'manage')
  const { deps, form } = context
  const kind = (['rw', 'ro', 'ping'] as const).find((one) => one === field(form, 'kind'))
  if (!kind) throw new NotFoundError('There is no such kind of key.')
  const key = await createKey(
    deps.db,
    personOf(context, session),
    { project, kind, name: field(form, 'key_name') },
    deps,
  )
  const path = `/projects/${project.uuid}/settings`
  setFlash(context, path, { secret: key, about: kind })
  redirect(context, `${path}#keys`)
}
