import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { ForbiddenError, NotFoundError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../accounts/audit-store.ts'
import { lockOrganisation } from '../accounts/store.ts'
import type { Actor } from '../actor.ts'
import { type ClientScope, type Family, scopesOf } from '../oauth/families.ts'
import { newClientId, newClientSecret } from '../organisations/new-client.ts'
import {
  findOrganisationOfClient,
  grantFamilies,
  insertClient,
  insertLmsIntegration,
  listWithheldFamilies,
  releaseFamilies,
  revokeFamilies,
  rotateSecret,
  setClientDisabled,
  setClientDisabledByOperator,
  withholdFamilies,
} from '../organisations/store.ts'

const MAX_NAME = 100

/** The secret is never shown again. @throws ValidationError */
export async function createClient(
  db: Knex,
  actor: Actor,
  input: {
    organisationId: number
    name: string
    env: ApiEnv
    families: readonly Family[]
    scopes: readonly ClientScope[]
  },
): Promise<{ clientId: string; clientSecret: string }> {
  const { organisationId, env, families, scopes } = input
  const name = input.name.trim()
  if (name === '' || name.length > MAX_NAME) throw new ValidationError(`name must have 1 to ${MAX_NAME} characters`)
  const clientId = newClientId(randomBytes)
  const secret = newClientSecret(randomBytes)
  await transaction(db, async (tx) => {
    const client = { clientId, organisationId, name, env, scopes: scopesOf(families, scopes), secret }
    const id = await insertClient(tx, client)
    await insertLmsIntegration(tx, { id: randomUUID(), organisationId, clientId: id, env, sealedSecret: null })
    await insertActorAudit(tx, actor, { organisationId, action: 'client.created', target: `${name} (${clientId})` })
  })
  return { clientId, clientSecret: secret.text }
}

interface ChangedClient {
  /** null for the operator */
  organisationId: number | null
  clientId: string
}

/** Tokens end within seconds. @throws NotFoundError; ForbiddenError if the operator disabled the client */
export async function switchClient(
  db: Knex,
  actor: Actor,
  { organisationId, clientId }: ChangedClient,
  isDisabled: boolean,
): Promise<void> {
  await transaction(db, async (tx) => {
    const owner = await requireOwner(tx, actor, { organisationId, clientId })
    if (actor.kind === 'operator') await setClientDisabledByOperator(tx, clientId, isDisabled)
    else if (!(await setClientDisabled(tx, clientId, isDisabled))) {
      throw new ForbiddenError('The operator of this installation disabled this client. Ask them to enable it.')
    }
    const action = isDisabled ? 'client.disabled' : 'client.enabled'
    await insertActorAudit(tx, actor, { organisationId: owner, action, target: clientId })
  })
}

/** The previous secret stays valid; the new one is shown only once. @throws NotFoundError */
export async function rotateClientSecret(
  db: Knex,
  actor: Actor,
  { organisationId, clientId }: ChangedClient,
): Promise<string> {
  const secret = newClientSecret(randomBytes)
  await transaction(db, async (tx) => {
    const owner = await requireOwner(tx, actor, { organisationId, clientId })
    await rotateSecret(tx, clientId, secret)
    await insertActorAudit(tx, actor, { organisationId: owner, action: 'client.secret-rotated', target: clientId })
  })
  return secret.text
}

async function requireOwner(tx: Knex, actor: Actor, { organisationId, clientId }: ChangedClient): Promise<number> {
  const owner = await findOrganisationOfClient(tx, clientId)
  if (owner === null || (actor.kind !== 'operator' && owner !== organisationId)) {
    throw new NotFoundError('Your organisations have no client with this id.')
  }
  return owner
}

/** Takes effect within seconds. @throws ForbiddenError for a family withheld by the operator */
export async function changeFamilies(
  db: Knex,
  actor: Actor,
  { organisationId, families, isGranted }: { organisationId: number; families: readonly Family[]; isGranted: boolean },
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockOrganisation(tx, organisationId)
    if (actor.kind === 'operator') {
      await (isGranted ? releaseFamilies : withholdFamilies)(tx, organisationId, families)
    } else if (isGranted) {
      const withheld = await listWithheldFamilies(tx, organisationId)
      const refused = families.filter((family) => withheld.includes(family))
      if (refused.length > 0) {
        throw new ForbiddenError(
          `The operator of this installation revoked ${refused.join(', ')}. Ask them to restore it.`,
        )
      }
    }
    await (isGranted ? grantFamilies : revokeFamilies)(tx, organisationId, families)
    const action = isGranted ? 'family.granted' : 'family.revoked'
    for (const target of families) await insertActorAudit(tx, actor, { organisationId, action, target })
  })
}
