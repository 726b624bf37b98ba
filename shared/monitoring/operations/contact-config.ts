import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertAudit } from '../../tenancy/accounts/audit-store.ts'
import { listMemberships } from '../../tenancy/accounts/store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { withShared } from '../contacts/contact-kinds.ts'
import type { ContactMethod } from '../contacts/contact-method.ts'
import { type ContactRow, ensureAccountMethods, findContactRow, listContactRows } from '../contacts/contact-store.ts'
import { findKind } from '../integrations/kinds.ts'
import type { ConfigObject } from '../integrations/shown-config.ts'

/** Decrypts the configuration and adds the members of the integration that it uses. */
export function contactMethodOf(row: ContactRow, secrets: Secrets): ContactMethod {
  const { sealedConfig, accountAddress, usesVia, viaConfig, organisationId: _, ...rest } = row
  return { ...rest, isAccount: sealedConfig === null, config: configOf(row, secrets) }
}

function configOf(row: ContactRow, secrets: Secrets): ConfigObject | null {
  const { kind, sealedConfig, accountAddress, usesVia, viaConfig } = row
  if (sealedConfig === null) return parsed(kind, { value: accountAddress })
  if (usesVia && viaConfig === null) return null
  const own: ConfigObject = JSON.parse(secrets.open('contact', sealedConfig))
  if (viaConfig === null) return parsed(kind, own)
  return parsed(kind, withShared(kind, own, JSON.parse(secrets.open('integration', viaConfig))))
}

function parsed(kind: string, config: ConfigObject): ConfigObject | null {
  const result = findKind(kind)?.parse(config)
  return result?.ok ? { ...(result.config as ConfigObject) } : null
}

/** Includes the address of the account. */
export async function listContactMethods(db: Knex, secrets: Secrets, userId: number): Promise<ContactMethod[]> {
  await ensureAccountMethods(db, [userId])
  return (await listContactRows(db, [userId])).map((row) => contactMethodOf(row, secrets))
}

/** @throws NotFoundError alike for unknown methods and those of other persons */
export async function requireContactMethod(
  db: Knex,
  secrets: Secrets,
  { userId, id }: { userId: number; id: string },
): Promise<ContactMethod> {
  const row = await findContactRow(db, userId, id)
  if (!row) throw new NotFoundError('There is no such contact method, or it is not one of yours.')
  return contactMethodOf(row, secrets)
}

/** @throws ConflictError if its integration is gone */
export function requireConfig(method: ContactMethod): ConfigObject {
  if (method.config === null) throw new ConflictError('the settings of this contact method are incomplete')
  return method.config
}

/** Records a change in each organisation of the person. The target is the kind of a contact method, never its address. */
export async function auditContact(
  tx: Knex,
  actor: Actor,
  { userId, action, target }: { userId: number; action: string; target: string },
): Promise<void> {
  const organisations = (await listMemberships(tx, userId)).map(({ organisationId }) => organisationId)
  for (const organisationId of organisations.length === 0 ? [null] : organisations) {
    await insertAudit(tx, { ...auditedActor(actor), organisationId, action, target })
  }
}
