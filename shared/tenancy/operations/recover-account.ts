import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertAudit } from '../accounts/audit-store.ts'
import { deleteLaterLinks, deleteLinks, insertLink, type OneTimeLink, useLink } from '../accounts/link-store.ts'
import { deleteUnconfirmedFactors, findUnconfirmedFactor } from '../accounts/second-factor-store.ts'
import { deleteSessions } from '../accounts/session-store.ts'
import { deleteIdentities, findUser, type User, updateEmail } from '../accounts/store.ts'

interface Recovery {
  db: Knex
  secrets: Secrets
  /** client address, for the audit log */
  address: string
}

/**
 * Removes a second factor that the owner of the mailbox did not add, with every other unconfirmed one, and ends all
 * sessions.
 * @param digests of the token in the mail about the factor
 * @returns a token to choose a new password with, because the person who added the factor knows the present one
 * @throws NotFoundError when the factor is confirmed or removed already
 */
export async function disownFactor(digests: readonly Buffer[], { db, secrets, address }: Recovery): Promise<string> {
  return await transaction(db, async (tx) => {
    const found = await findUnconfirmedFactor(tx, digests)
    const user = found && (await findUser(tx, found.userId))
    if (!found || !user) throw new NotFoundError('This factor is confirmed or removed already.')
    await note(tx, user, 'second-factor.removed', `${found.name}, not added by the owner`, address)
    return await endAccess(tx, user.id, { secrets })
  })
}

/**
 * Gives an account its former address back, ends all sessions, and removes the second factors that were added since.
 * @param link to the former address, with purpose `restore-address`
 * @returns a token to choose a new password with
 * @throws NotFoundError when the link was used, or another account has the address now
 */
export async function restoreAddress(
  link: OneTimeLink,
  user: User,
  { db, secrets, address }: Recovery,
): Promise<string> {
  return await transaction(db, async (tx) => {
    if (!(await useLink(tx, link.id))) throw new NotFoundError('This link was used a moment ago.')
    await deleteLaterLinks(tx, user.id, link.id)
    if (!(await updateEmail(tx, user.id, link.email))) {
      throw new NotFoundError('Another account has this address now. Ask the operator of this installation.')
    }
    await note(tx, user, 'address.restored', link.email, address)
    return await endAccess(tx, user.id, { secrets, since: link.createdAt })
  })
}

async function endAccess(
  tx: Knex,
  userId: number,
  { secrets, since }: { secrets: Secrets; since?: Date },
): Promise<string> {
  await deleteUnconfirmedFactors(tx, userId, since)
  await deleteIdentities(tx, userId)
  await deleteSessions(tx, userId)
  await deleteLinks(tx, 'reset-password', userId)
  const token = randomBytes(32).toString('base64url')
  await insertLink(tx, { purpose: 'reset-password', digest: secrets.digest(`reset-password:${token}`), userId })
  return token
}

async function note(tx: Knex, user: User, action: string, target: string, address: string): Promise<void> {
  await insertAudit(tx, { organisationId: null, userId: user.id, actor: user.email, action, target, address })
}
