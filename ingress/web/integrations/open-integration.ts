import { NotFoundError } from '#shared/errors.ts'
import { findChannel, type StoredChannel } from '#shared/monitoring/channels/store.ts'
import { findChannelByUuid } from '#shared/monitoring/pages/integration-store.ts'
import type { Right } from '#shared/tenancy/accounts/roles.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Context } from '../frame/context.ts'
import { type ProjectWorkspace, requireRight, signedIn } from '../frame/workspace.ts'

/** The integration that the path names, within a project of one's own. @throws as openProject does */
export async function openIntegration(
  context: Context,
  right: Right,
): Promise<ProjectWorkspace & { channel: StoredChannel }> {
  const workspace = await signedIn(context)
  const uuid = context.params.integration ?? ''
  const found = isUuid(uuid) ? await findChannelByUuid(context.deps.db, uuid) : null
  const project = workspace.projects.find((candidate) => candidate.id === found?.projectId)
  const channel = project ? await findChannel(context.deps.db, project.id, uuid) : null
  if (!project || !channel) throw new NotFoundError('There is no such integration, or it is not one of yours.')
  await requireRight(context, workspace, project, right)
  return { ...workspace, project, channel }
}
