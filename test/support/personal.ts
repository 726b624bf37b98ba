import { insertNotifications, type PersonalNotification } from '#shared/monitoring/alerting/notification-store.ts'
import type { ContactKind } from '#shared/monitoring/contacts/contact-kinds.ts'
import { insertContact } from '#shared/monitoring/contacts/contact-store.ts'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import type { IngressDeps } from '../../ingress/deps.ts'
import { addIncident } from './incidents.ts'
import { addCheck } from './projects.ts'

export interface Person {
  id: number
  email: string
}

let people = 0

/** Adds a member of an organisation who never signs in. */
export async function addPerson({ db }: IngressDeps, organisationId: number, name = 'Anna'): Promise<Person> {
  return await db.transaction(async (tx) => {
    const email = `person-${++people}-${organisationId}@example.com`
    const user = await insertUser(tx, { email, name, passwordHash: null })
    if (!user) throw new Error(`${email} exists`)
    await insertMembership(tx, { organisationId, userId: user.id, role: 'member' })
    return { id: user.id, email }
  })
}

/** Adds a verified contact method. @returns its id */
export async function addMethod(
  { db, secrets }: IngressDeps,
  userId: number,
  kind: ContactKind,
  config: object,
): Promise<string> {
  const sealedConfig = secrets.seal('contact', JSON.stringify(config))
  const contact = { userId, kind, name: '', sealedConfig, viaId: null, recoveries: true, isVerified: true }
  return await insertContact(db, contact)
}

export interface Down {
  checkId: number
  incidentId: string
}

/** Adds a check with an incident that no worker evaluates. */
export async function addDown(deps: IngressDeps, projectId: number, name: string): Promise<Down> {
  const check = await addCheck(deps, projectId, { name })
  await deps.db('checks').where({ id: check.id }).update({ status: 'down' })
  const incidentId = await addIncident(deps.db, { projectId, checkId: check.id }, { is_direct: false })
  return { checkId: check.id, incidentId }
}

/** Notifies a person of incidents by one contact method, as the alerter does. */
export async function notifyOf(
  { db, outbox }: IngressDeps,
  { userId, methodId }: { userId: number; methodId: string },
  incidents: readonly Down[],
  fields: Partial<Pick<PersonalNotification, 'what' | 'status' | 'entry' | 'detail'>> = {},
): Promise<void> {
  const detail = { step: 0, repeat: 0, reason: 'STEP', dueAt: Date.now() * 1000 } as const
  const common = { userId, methodId, what: 'first', status: 'down', entry: 0, detail, ...fields } as const
  outbox.publishLater(
    await insertNotifications(
      db,
      incidents.map((incident) => ({ ...common, ...incident })),
    ),
  )
}
