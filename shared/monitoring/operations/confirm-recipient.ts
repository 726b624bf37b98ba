import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { insertVerifiedRecipient } from '../integrations/recipient-store.ts'
import { confirmRecipient as storeConfirmation } from '../integrations/store.ts'
import { findProjectOrganisation } from '../projects/changes-store.ts'
import { decryptConfig } from './integration-config.ts'
import { type LinkedIntegration, recipientOf, recipientText } from './recipients.ts'

/**
 * The recipient of an e-mail integration agrees to its mails, and with that to those of others of the project.
 * @throws NotFoundError when the integration is gone
 */
export async function confirmRecipient(
  db: Knex,
  actor: Actor,
  channel: LinkedIntegration,
  { secrets }: { secrets: Secrets },
): Promise<void> {
  const address = recipientOf(channel.kind, decryptConfig(channel, secrets)) ?? ''
  await transaction(db, async (tx) => {
    await storeConfirmation(tx, channel)
    await insertVerifiedRecipient(tx, channel.projectId, secrets.digest(recipientText(address)))
    const organisationId = await findProjectOrganisation(tx, channel.projectId)
    if (organisationId === null) throw new NotFoundError('The integration is gone.')
    const target = channel.name || channel.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.confirmed', target })
  })
}
