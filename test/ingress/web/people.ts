import { insertProject, type Project } from '#shared/monitoring/projects/store.ts'
import { hashPassword } from '#shared/tenancy/accounts/password.ts'
import type { Role } from '#shared/tenancy/accounts/roles.ts'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { insertOrganisation } from '#shared/tenancy/organisations/store.ts'
import type { HttpProduct } from '../../support/product.ts'
import { createVisitor, type Visitor } from './visitor.ts'

export const password = 'four words rarely joined'
let hashed: Promise<string> | undefined

export interface Team {
  organisationId: number
  organisationUuid: string
  project: Project
}

/** Creates an organisation with a project and without members. */
export async function createTeam(app: HttpProduct, name: string): Promise<Team> {
  const { db } = app.deps
  return await db.transaction(async (tx) => {
    const { id, uuid } = await insertOrganisation(tx, name)
    const project = await insertProject(tx, { organisationId: id, name: `${name} project` })
    return { organisationId: id, organisationUuid: uuid, project }
  })
}

/** Returns the address that `join` gives to the member with this role. */
export function emailOf(team: Team, role: Role): string {
  return `${role}-${team.organisationId}@example.com`
}

/** Adds a member with a role and signs in. */
export async function join(app: HttpProduct, team: Team, role: Role, email = emailOf(team, role)): Promise<Visitor> {
  const { db } = app.deps
  hashed ??= hashPassword(password)
  const passwordHash = await hashed
  await db.transaction(async (tx) => {
    const user = await insertUser(tx, { email, name: '', passwordHash })
    if (!user) throw new Error(`${email} exists`)
    await insertMembership(tx, { organisationId: team.organisationId, userId: user.id, role })
  })
  return await signedIn(app, email)
}

export async function signedIn(app: HttpProduct, email: string): Promise<Visitor> {
  const visitor = createVisitor(app.url)
  const answer = await visitor.post('/sign-in', { email, password })
  if (answer.status !== 303) throw new Error(`${email} could not sign in: ${answer.status}`)
  return visitor
}

/** Creates a check through the form. @returns its uuid */
export async function addCheck(visitor: Visitor, team: Team, fields: Record<string, string> = {}): Promise<string> {
  const base = `/projects/${team.project.uuid}/checks`
  const answer = await visitor.post(
    base,
    { name: 'Job', kind: 'simple', timeout: '1', timeout_unit: 'hours', grace: '5', grace_unit: 'minutes', ...fields },
    `${base}/new`,
  )
  const [, uuid] = /^\/checks\/([0-9a-f-]{36})/.exec(answer.headers.location ?? '') ?? []
  if (!uuid) throw new Error(`no check was created: ${answer.status} ${answer.text.slice(0, 500)}`)
  return uuid
}
