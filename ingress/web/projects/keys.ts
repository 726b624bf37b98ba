import { randomBytes } from 'node:crypto'
import { NotFoundError } from '#shared/errors.ts'
import { generateKey, keyPrefix } from '#shared/monitoring/projects/api-key.ts'
import { insertProjectKey, revokeProjectKey } from '#shared/monitoring/projects/store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { audit } from '../frame/audit.ts'
import { type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { openProject } from '../frame/workspace.ts'
import { kindNames } from './key-table.tsx'
import { showSettings } from './settings.ts'

export function keyPages(pages: Pages): void {
  pages.post('/projects/:project/keys', createKey)
  pages.post('/projects/:project/keys/:key/revoke', async (context) => {
    const { project } = await openProject(context, 'manage')
    const id = Number(context.params.key)
    const isRevoked = Number.isSafeInteger(id) && (await revokeProjectKey(context.deps.db, project.id, id))
    if (!isRevoked) throw new NotFoundError('There is no such key.')
    context.deps.announce({ kind: 'project', projectId: project.id })
    await audit(context, project.organisationId, 'key.revoked', `${project.name} #${id}`)
    redirect(context, `/projects/${project.uuid}/settings?done=key-revoked`)
  })
}

/** Makes a key and shows it in the answer, which is the only time it can be seen. */
async function createKey(context: FormContext): Promise<void> {
  const { project } = await openProject(context, 'manage')
  const { deps, form } = context
  const kind = (['rw', 'ro', 'ping'] as const).find((one) => one === field(form, 'kind'))
  if (!kind) throw new NotFoundError('There is no such kind of key.')
  const key = generateKey(kind, randomBytes)
  await transaction(deps.db, async (tx) => {
    await insertProjectKey(tx, {
      projectId: project.id,
      kind,
      prefix: keyPrefix(key),
      digest: deps.secrets.digest(key),
      ...(kind === 'ping' && { sealed: deps.secrets.seal('ping-key', key) }),
    })
    await audit(context, project.organisationId, 'key.created', `${kindNames[kind]} key of ${project.name}`, tx)
  })
  deps.announce({ kind: 'project', projectId: project.id })
  await showSettings(context, { newKey: { kind, key } })
}
