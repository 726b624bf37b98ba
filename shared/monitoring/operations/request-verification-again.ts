import { NotFoundError } from '../../errors.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { StoredIntegration } from '../integrations/store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { decryptConfig } from './integration-config.ts'
import { recipientOf, requestRecipient } from './recipients.ts'

/**
 * Asks the recipient of an e-mail integration once more whether they want its mails.
 * @throws NotFoundError when they need not be asked, RateLimitedError when too many were asked
 */
export async function requestVerificationAgain(
  actor: Actor,
  { project, channel }: { project: Project; channel: StoredIntegration },
  deps: Pick<OperationDeps, 'config' | 'secrets'> & { outbox: Pick<Outbox, 'run'> },
): Promise<void> {
  if (channel.isEmailVerified) throw new NotFoundError('There is nothing to ask the recipient of this integration.')
  const address = recipientOf(channel.kind, decryptConfig(channel, deps.secrets)) ?? ''
  await deps.outbox.run(async (tx, enqueue) => {
    await requestRecipient(tx, enqueue, deps, project.id, { uuid: channel.uuid, address })
    const { organisationId } = project
    const target = channel.name || channel.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.recipient-asked', target })
  })
}
