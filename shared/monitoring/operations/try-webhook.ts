import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { integrationTried, TrialResult } from '../../contracts/worker-messages.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { takeToken } from '../../tenancy/operations/link-mails.ts'
import { microsOfSeconds } from '../../time.ts'
import { webhook } from '../integrations/kinds/webhook.ts'
import { type ConfigObject, withStoredSecrets } from '../integrations/shown-config.ts'
import type { StoredIntegration } from '../integrations/store.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { checkConfig, checkName, decryptConfig } from './integration-config.ts'

/** Somebody waits so long for the result. */
const WAIT_MS = 20_000
/** By then the notifier begins, or not at all: its request may take fifteen seconds. */
const BEGIN_WITHIN_SECONDS = 4
/** Of a project: a request of ours waits for each. */
const PER_MINUTE = 6

interface Trial {
  project: Project
  /** the stored integration that is being changed; null for a new one */
  channel: StoredIntegration | null
  name: unknown
  /** leaves out the stored secrets that stay */
  config: ConfigObject
  status: 'up' | 'down'
}

interface TrialDeps extends Pick<OperationDeps, 'config' | 'secrets' | 'now'> {
  outbox: Pick<Outbox, 'run'>
  /** where the notifier replies to, and what waits there */
  replies: { replyTo: string; wait(id: string, timeoutMs: number): Promise<Uint8Array | null> }
}

/** What came of it: `nothing` when this side has no address, `silence` when no result came in time. */
export type TriedWebhook = TrialResult | 'nothing' | 'silence'

/**
 * Sends the test message of a webhook that is not stored, or not stored so: a worker makes one attempt by the rules of
 * every other message, and says what came of it.
 * @throws ValidationError that names the first member that is wrong, RateLimitedError beyond six a minute of a project
 */
export async function tryWebhook(
  db: Knex,
  actor: Actor,
  { project, channel, status, ...given }: Trial,
  deps: TrialDeps,
): Promise<TriedWebhook> {
  const name = checkName(given.name)
  const whole = channel ? withStoredSecrets(webhook, given.config, decryptConfig(channel, deps.secrets)) : given.config
  const config = await checkConfig({ db, config: deps.config }, project.id, webhook, whole)
  if (webhook.isNoop(config, status)) return 'nothing'
  await takeToken(db, `trial:${project.id}`, PER_MINUTE, 'There were six tests within a minute. Wait a little.')
  const trial = {
    trialId: randomUUID(),
    projectId: project.id,
    status,
    sealedConfig: deps.secrets.seal('integration', JSON.stringify(config)),
    beginBy: deps.now() + microsOfSeconds(BEGIN_WITHIN_SECONDS),
    replyTo: deps.replies.replyTo,
  }
  // Before it is sent: the reply may be there as soon as the transaction has ended.
  const reply = deps.replies.wait(trial.trialId, WAIT_MS)
  await deps.outbox.run(async (tx, enqueue) => {
    await enqueue(integrationTried, trial)
    const target = `${name || webhook.label} (not saved)`
    await insertActorAudit(tx, actor, { organisationId: project.organisationId, action: 'integration.tested', target })
  })
  const said = await reply
  return said === null ? 'silence' : TrialResult.parse(JSON.parse(Buffer.from(said).toString()))
}
