import { NotFoundError } from '#shared/errors.ts'
import { findIntegration, type StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { findIntegrationByUuid } from '#shared/monitoring/pages/integration-store.ts'
import type { Right } from '#shared/tenancy/accounts/roles.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Context } from '../../shell/context.ts'
import { enterProject, type ProjectWorkspace, requireRight, signedIn } from '../../shell/workspace.ts'

/** Returns the integration of the path, within the user's projects. @throws as `requireProject` */
export async function requireIntegrationOf(
  context: Context,
  right: Right,
): Promise<ProjectWorkspace & { integration: StoredIntegration }> {
  const workspace = await signedIn(context)
  const uuid = context.params.integration ?? ''
  const found = isUuid(uuid) ? await findIntegrationByUuid(context.deps.db, uuid) : null
  const project = workspace.projects.find((candidate) => candidate.id === found?.projectId)
  const integration = project ? await findIntegration(context.deps.db, project.id, uuid) : null
  if (!project || !integration) throw new NotFoundError('There is no such integration, or it is not one of yours.')
  await requireRight(context, workspace, project, right)
  return { ...(await enterProject(context, workspace, project)), project, integration }
}
