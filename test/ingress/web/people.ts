import { randomBytes } from 'node:crypto'
import { insertProject, type Project } from '#shared/monitoring/projects/store.ts'
import { hashPassword } from '#shared/tenancy/accounts/password.ts'
import type { Role } from '#shared/tenancy/accounts/roles.ts'
import { insertSession } from '#shared/tenancy/accounts/session-store.ts'
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

/** Adds a member with a role. The session is stored directly, because sign-ins of an address are limited. */
export async function join(app: HttpProduct, team: Team, role: Role, email = emailOf(team, role)): Promise<Visitor> {
  const { db } = app.deps
  hashed ??= hashPassword(password)
  const passwordHash = await hashed
  const userId = await db.transaction(async (tx) => {
    const user = await insertUser(tx, { email, name: '', passwordHash })
    if (!user) throw new Error(`${email} exists`)
    await insertMembership(tx, { organisationId: team.organisationId, userId: user.id, role })
    return user.id
  })
  const visitor = createVisitor(app.url)
  visitor.cookies.set(SESSION_COOKIE, await startSession({ app, userId }))
  return visitor
}

export const SESSION_COOKIE = 'signalbox-session'

/** Stores a session. @returns the value of its cookie */
export async function startSession({ app, userId }: { app: HttpProduct; userId: number }): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const digest = app.deps.secrets.digest(`session:${token}`)
  await insertSession(app.deps.db, { digest, userId, address: '127.0.0.1', agent: 'test' })
  return token
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
