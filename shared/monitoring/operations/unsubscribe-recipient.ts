import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { deleteVerifiedRecipient } from '../integrations/recipient-store.ts'
import { updateIntegrationRow } from '../integrations/store.ts'
import { findProjectOrganisation } from '../projects/changes-store.ts'
import { decryptConfig } from './integration-config.ts'
import { type LinkedIntegration, recipientOf, recipientText } from './recipients.ts'

/**
 * The recipient of an e-mail integration ends it: it is switched off, and the next one with this address asks again.
 * @throws NotFoundError when the integration is gone
 */
export async function unsubscribeRecipient(
  db: Knex,
  actor: Actor,
  channel: LinkedIntegration,
  { secrets }: { secrets: Secrets },
): Promise<void> {
  const address = recipientOf(channel.kind, decryptConfig(channel, secrets))
  await transaction(db, async (tx) => {
    await updateIntegrationRow(tx, channel.id, { disabled: true })
    if (address !== null) {
      await deleteVerifiedRecipient(tx, channel.projectId, secrets.digests(recipientText(address)))
    }
    const organisationId = await findProjectOrganisation(tx, channel.projectId)
    if (organisationId === null) throw new NotFoundError('The integration is gone.')
    const target = channel.name || channel.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.unsubscribed', target })
  })
}
