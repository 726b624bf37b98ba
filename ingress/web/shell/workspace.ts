import { ForbiddenError, NotFoundError, UnauthorizedError } from '#shared/errors.ts'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { type AssignedCheck, findCheck, findUuidByUniqueKey } from '#shared/monitoring/checks/store.ts'
import { type Attention, findAttention } from '#shared/monitoring/pages/attention-store.ts'
import { listProjectsOf, type MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { may, type Right, type Role } from '#shared/tenancy/accounts/roles.ts'
import type { Session } from '#shared/tenancy/accounts/session-store.ts'
import { listMemberships, type Membership } from '#shared/tenancy/accounts/store.ts'
import { auditedActor } from '#shared/tenancy/actor.ts'
import { isUuid } from '#shared/uuid.ts'
import { personOf } from './audit.ts'
import type { Context } from './context.ts'
import { readCookie } from './sessions.ts'

/** Data that a signed-in user may see. Every page loads its data through it. */
export interface Workspace {
  session: Session
  memberships: Membership[]
  projects: MemberProject[]
  /** project of the page; otherwise the project that this browser opened last, or the only one */
  current: MemberProject | undefined
  /** of the current project */
  attention: Attention | null
}

export interface ProjectWorkspace extends Workspace {
  project: MemberProject
}

export interface CheckWorkspace extends ProjectWorkspace {
  check: AssignedCheck
}

/** @throws UnauthorizedError if not signed in; the client is redirected to the sign-in page */
export async function signedIn(context: Context): Promise<Workspace> {
  const { session, deps } = context
  if (!session) throw new UnauthorizedError('sign in first')
  const [memberships, projects] = await Promise.all([
    listMemberships(deps.db, session.userId),
    listProjectsOf(deps.db, session.userId),
  ])
  const find = (wanted: string | undefined) => projects.find(({ uuid }) => uuid === wanted)
  const current =
    find(context.params.project) ??
    find(readCookie(context.request, deps.config, 'project')) ??
    (projects.length === 1 ? projects[0] : undefined)
  return { session, memberships, projects, current, attention: await attentionOf(context, current) }
}

/** Makes a project the current one. */
export async function enterProject<Opened extends Workspace>(
  context: Context,
  workspace: Opened,
  project: MemberProject | undefined,
): Promise<Opened> {
  if (workspace.current?.id === project?.id) return workspace
  return { ...workspace, current: project, attention: await attentionOf(context, project) }
}

async function attentionOf({ deps }: Context, project: MemberProject | undefined): Promise<Attention | null> {
  return project ? await findAttention(deps.db, project.id) : null
}

/**
 * Returns the project of the path.
 * @throws NotFoundError alike for unknown projects and those of other organisations
 * @throws ForbiddenError if the role is not sufficient; recorded in the audit log
 */
export async function requireProject(context: Context, right: Right, uuid?: string): Promise<ProjectWorkspace> {
  const workspace = await signedIn(context)
  const wanted = uuid ?? context.params.project
  const project = workspace.projects.find((candidate) => candidate.uuid === wanted)
  if (!project) throw new NotFoundError('There is no such project, or it is not one of yours.')
  await requireRight(context, workspace, project, right)
  return { ...(await enterProject(context, workspace, project)), project }
}

/** Returns the check of the path, within the user's projects. @throws as `requireProject` */
export async function requireCheckPage(context: Context, right: Right): Promise<CheckWorkspace> {
  const workspace = await signedIn(context)
  const named = context.params.check ?? ''
  const uuid = isUuid(named) ? named : await uuidOfUniqueKey(context, workspace, named)
  const check = uuid === null ? null : await findCheck(context.deps.db, uuid)
  const project = workspace.projects.find((candidate) => candidate.id === check?.projectId)
  if (!check || !project) throw new NotFoundError('There is no such check, or it is not one of yours.')
  await requireRight(context, workspace, project, right)
  return { ...(await enterProject(context, workspace, project)), project, check }
}

/**
 * Returns the path of a check's page. The uuid of a check is a ping address, so read-only members get its unique key,
 * which cannot be reversed.
 */
export function checkPath({ uuid }: { uuid: string }, { role }: { role: Role }): string {
  return `/checks/${may(role, 'edit') ? uuid : uniqueKey(uuid)}`
}

async function uuidOfUniqueKey(context: Context, { projects }: Workspace, named: string): Promise<string | null> {
  if (!/^[0-9a-f]{40}$/.test(named)) return null
  for (const project of projects) {
    const uuid = await findUuidByUniqueKey(context.deps.db, project.id, named)
    if (uuid !== null) return uuid
  }
  return null
}

/** Returns the organisation of the path; the current project is one of its projects. @throws as `requireProject` */
export async function requireOrganisation(
  context: Context,
  right: Right,
): Promise<Workspace & { organisation: Membership }> {
  const workspace = await signedIn(context)
  const organisation = workspace.memberships.find((one) => one.organisationUuid === context.params.organisation)
  if (!organisation) throw new NotFoundError('There is no such organisation, or you do not belong to it.')
  await requireRight(context, workspace, organisation, right)
  const { current, projects } = workspace
  const isOwn = ({ organisationId }: MemberProject) => organisationId === organisation.organisationId
  const project = current && isOwn(current) ? current : projects.find(isOwn)
  return { ...(await enterProject(context, workspace, project)), organisation }
}

/** @throws ForbiddenError; the attempt is recorded in the audit log */
export async function requireRight(
  context: Context,
  { session }: Pick<Workspace, 'session'>,
  scope: { organisationId: number; role: Role },
  right: Right,
): Promise<void> {
  if (may(scope.role, right)) return
  await deny(context, session, scope.organisationId)
}

export async function deny(context: Context, session: Session, organisationId: number): Promise<never> {
  const { request, deps } = context
  await insertAudit(deps.db, {
    ...auditedActor(personOf(context, session)),
    organisationId,
    action: 'request.denied',
    target: `${request.method} ${request.path}`,
  })
  throw new ForbiddenError(
    'Your role in this organisation does not permit this. Its owners and managers can change that.',
  )
}
