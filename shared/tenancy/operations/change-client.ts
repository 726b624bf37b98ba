import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../accounts/audit-store.ts'
import type { Actor } from '../actor.ts'
import { newClientSecret } from '../organisations/new-client.ts'
import {
  findOrganisationOfClient,
  rotateSecret,
  setClientDisabled,
  setClientDisabledByOperator,
} from '../organisations/store.ts'

interface ChangedClient {
  /** null for the operator, who may change the clients of every organisation */
  organisationId: number | null
  clientId: string
}

/**
 * Disables or enables a client; its tokens end within seconds. One that the operator disabled is enabled by the operator
 * only.
 * @throws NotFoundError when the client does not exist or belongs to another organisation
 * @throws ForbiddenError when another actor enables a client that the operator disabled
 */
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

/** Gives a client a new secret; the one before stays good beside it. @returns the secret, shown this once. @throws NotFoundError */
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
    throw new NotFoundError('There is no such client, or it is not one of yours.')
  }
  return owner
}
