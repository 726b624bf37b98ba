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

const WAIT_MS = 20_000
/** Start deadline of the notifier. Its request may take 15 s more, which is still within WAIT_MS. */
const BEGIN_WITHIN_SECONDS = 4
/** Per project, because each trial keeps a request waiting. */
const PER_MINUTE = 6

interface Trial {
  project: Project
  integration: StoredIntegration | null
  name: unknown
  /** omits stored secrets that do not change */
  config: ConfigObject
  status: 'up' | 'down'
}

interface TrialDeps extends Pick<OperationDeps, 'config' | 'secrets' | 'now'> {
  outbox: Pick<Outbox, 'run'>
  replies: { replyTo: string; wait(id: string, timeoutMs: number): Promise<Uint8Array | null> }
}

/** `nothing` if the configuration has no URL for this status, `silence` if no result arrived in time. */
export type TriedWebhook = TrialResult | 'nothing' | 'silence'

/** The notifier makes one attempt. @throws ValidationError, RateLimitedError beyond six a minute per project */
export async function tryWebhook(
  db: Knex,
  actor: Actor,
  { project, integration, status, ...input }: Trial,
  deps: TrialDeps,
): Promise<TriedWebhook> {
  const name = checkName(input.name)
  const whole = integration
    ? withStoredSecrets(webhook, input.config, decryptConfig(integration, deps.secrets))
    : input.config
  const config = await checkConfig({ db, config: deps.config }, project.id, webhook, whole)
  if (webhook.isNoop(config, status)) return 'nothing'
  await takeToken(
    db,
    `trial:${project.id}`,
    PER_MINUTE,
    'Only six tests per minute are allowed. Try again in a minute.',
  )
  const trial = {
    trialId: randomUUID(),
    projectId: project.id,
    status,
    sealedConfig: deps.secrets.seal('integration', JSON.stringify(config)),
    beginBy: deps.now() + microsOfSeconds(BEGIN_WITHIN_SECONDS),
    replyTo: deps.replies.replyTo,
  }
  // Wait before sending, because the reply may arrive as soon as the transaction commits.
  const reply = deps.replies.wait(trial.trialId, WAIT_MS)
  await deps.outbox.run(async (tx, enqueue) => {
    await enqueue(integrationTried, trial)
    const target = `${name || webhook.label} (not saved)`
    await insertActorAudit(tx, actor, { organisationId: project.organisationId, action: 'integration.tested', target })
  })
  const message = await reply
  return message === null ? 'silence' : TrialResult.parse(JSON.parse(Buffer.from(message).toString()))
}
