import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../accounts/audit-store.ts'
import type { Actor } from '../actor.ts'
import { newClientSecret } from '../organisations/new-client.ts'
import { isClientOf, rotateSecret, setClientDisabled } from '../organisations/store.ts'

interface OwnClient {
  organisationId: number
  clientId: string
}

/**
 * Disables or enables a client; its tokens end within seconds.
 * @throws NotFoundError when the client belongs to another organisation
 * @throws ForbiddenError when it is to be enabled and the operator disabled it
 */
export async function switchClient(
  db: Knex,
  actor: Actor,
  { organisationId, clientId }: OwnClient,
  isDisabled: boolean,
): Promise<void> {
  await transaction(db, async (tx) => {
    await requireOwn(tx, { organisationId, clientId })
    if (!(await setClientDisabled(tx, clientId, isDisabled))) {
      throw new ForbiddenError('The operator of this installation disabled this client. Ask them to enable it.')
    }
    const action = isDisabled ? 'client.disabled' : 'client.enabled'
    await insertActorAudit(tx, actor, { organisationId, action, target: clientId })
  })
}

/** Gives a client a new secret; the one before stays good beside it. @returns the secret, shown this once. @throws NotFoundError */
export async function rotateClientSecret(
  db: Knex,
  actor: Actor,
  { organisationId, clientId }: OwnClient,
): Promise<string> {
  const secret = newClientSecret(randomBytes)
  await transaction(db, async (tx) => {
    await requireOwn(tx, { organisationId, clientId })
    await rotateSecret(tx, clientId, secret)
    await insertActorAudit(tx, actor, { organisationId, action: 'client.secret-rotated', target: clientId })
  })
  return secret.text
}

async function requireOwn(tx: Knex, { organisationId, clientId }: OwnClient): Promise<void> {
  if (!(await isClientOf(tx, organisationId, clientId))) {
    throw new NotFoundError('There is no such client, or it is not one of yours.')
  }
}
