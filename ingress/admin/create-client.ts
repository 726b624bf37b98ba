import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { type ClientScope, type Family, scopesOf } from '#shared/tenancy/oauth/families.ts'
import { newClientId, newClientSecret, newConsumerKey, newLmsSecret } from '#shared/tenancy/organisations/new-client.ts'
import {
  ensureOrganisation,
  grantFamilies,
  insertClient,
  insertConsumerKey,
  insertLmsIntegration,
  releaseFamilies,
} from '#shared/tenancy/organisations/store.ts'

export interface ClientOrder {
  /** of the organisation, which is created if none has this name */
  name: string
  env: ApiEnv
  families: readonly Family[]
  /** in addition to the scopes of the families */
  scopes: readonly ClientScope[]
  /** only with the securitisation family */
  hasApiKey: boolean
  /** only with the co-lending family */
  hasLmsSecret: boolean
}

/** Secrets that are shown once; null if not provisioned. */
export interface CreatedClient {
  organisationId: string
  clientId: string
  clientSecret: string
  env: ApiEnv
  families: string[]
  apiKey: string | null
  lmsIntegrationId: string
  lmsSecret: string | null
}

/** Creates a client with its keys, and entitles its organisation to the families. */
export async function createClient(db: Knex, secrets: Secrets, order: ClientOrder): Promise<CreatedClient> {
  const { env, families } = order
  const clientId = newClientId(randomBytes)
  const secret = newClientSecret(randomBytes)
  const apiKey = order.hasApiKey && families.includes('securitisation') ? newConsumerKey(randomBytes) : null
  const lmsIntegrationId = randomUUID()
  const lmsSecret = order.hasLmsSecret && families.includes('colending') ? newLmsSecret(randomBytes) : null
  return await db.transaction(async (tx) => {
    const organisation = await ensureOrganisation(tx, order.name)
    await releaseFamilies(tx, organisation.id, families)
    await grantFamilies(tx, organisation.id, families)
    const id = await insertClient(tx, {
      clientId,
      organisationId: organisation.id,
      name: order.name,
      env,
      scopes: scopesOf(families, order.scopes),
      secret,
    })
    const owner = { organisationId: organisation.id, clientId: id, env }
    if (apiKey !== null) {
      await insertConsumerKey(tx, { ...owner, prefix: apiKey.slice(0, 7), digest: secrets.digest(apiKey) })
    }
    const sealedSecret = lmsSecret === null ? null : secrets.seal('lms-secret', lmsSecret)
    await insertLmsIntegration(tx, { ...owner, id: lmsIntegrationId, sealedSecret })
    return {
      organisationId: organisation.uuid,
      clientId,
      clientSecret: secret.text,
      env,
      families: [...families],
      apiKey,
      lmsIntegrationId,
      lmsSecret,
    }
  })
}
