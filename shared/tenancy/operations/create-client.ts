import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../accounts/audit-store.ts'
import type { Actor } from '../actor.ts'
import { type ClientScope, type Family, scopesOf } from '../oauth/families.ts'
import { newClientId, newClientSecret } from '../organisations/new-client.ts'
import { insertClient, insertLmsIntegration } from '../organisations/store.ts'

const MAX_NAME = 100

/**
 * Makes a client of an organisation for the API, with the scopes of these families.
 * @returns its id and its secret, which is stored as a digest and never shown again
 * @throws ValidationError for a name that is empty or too long
 */
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
  if (name === '' || name.length > MAX_NAME) throw new ValidationError(`name takes 1 to ${MAX_NAME} characters`)
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
