import type { Mailer } from '#shared/delivery/mailer.ts'
import { temporary } from '#shared/delivery/outcome.ts'
import { findChecks } from '#shared/monitoring/checks/store.ts'
import { ackLinkOf } from '#shared/monitoring/notifications/ack-link.ts'
import {
  type ClaimedForIntegration,
  type ClaimedNotification,
  claimNotifications,
  type FinishedAttempt,
  postponeNotifications,
  recordAttempts,
  renewLeases,
} from '#shared/monitoring/notifications/attempt-store.ts'
import { requeueWaiting } from '#shared/monitoring/notifications/order-store.ts'
import {
  flipsForSending,
  type IntegrationForSending,
  incidentsForSending,
  integrationsForSending,
  lastPingsUntil,
} from '#shared/monitoring/notifications/sending-store.ts'
import { countChildren, type Depended } from '#shared/monitoring/rules/parent-store.ts'
import { findFacts } from '#shared/monitoring/rules/rule-state-store.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import { batched } from '#shared/platform/process/batch.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { Micros } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { RecipientLimiter } from './recipient-limiter.ts'

const WRITES = { largest: 200, start: setImmediate }
/** Fewer rows than in WRITES, because each ping may have a body. */
const READS = { largest: 100, start: setImmediate }

/** A fault of this service is retried like a failure of the target, so the number of attempts is limited. */
export const INTERNAL_ERROR = temporary('Internal error', { failure: 'internal' })

interface NotifierDeps extends WorkerDeps {
  /** for addresses that owners of integrations chose */
  http: HttpClient
  /** for gateways that the operator chose */
  gatewayHttp: HttpClient
  /** null if no mail server is configured */
  mailer: Mailer | null
}

export interface NotifierContext extends NotifierDeps {
  statements: Statements
  slots: ConcurrencyLimiter
  recipients: RecipientLimiter
  /** check and integration of notifications that wait for an older one */
  behind: Set<string>
}

type Statements = ReturnType<typeof createStatements>

export interface Claim {
  claimed: ClaimedNotification
  /** for a person the kind and project; the configuration belongs to the contact method */
  integration: IntegrationForSending
}

export type IntegrationClaim = Claim & { claimed: ClaimedForIntegration }

export function createNotifierContext(deps: NotifierDeps): NotifierContext {
  return {
    ...deps,
    statements: createStatements(deps),
    slots: new ConcurrencyLimiter(),
    recipients: new RecipientLimiter(),
    behind: new Set(),
  }
}

/** Concurrent attempts share statements: items of the same moment use one round trip. */
function createStatements({ db, outbox, secrets }: Pick<NotifierDeps, 'db' | 'outbox' | 'secrets'>) {
  return {
    claim: batched((ids: readonly string[]) => {
      const requested = ids.map((id) => ({ id, linkDigest: ackLinkOf(id, secrets.digest).digest }))
      return claimNotifications(db, requested)
    }, WRITES),
    reschedule: batched(async (rescheduled: readonly { id: string; seconds: number }[]) => {
      await postponeNotifications(db, rescheduled)
      return rescheduled
    }, WRITES),
    requeueWaiting: batched(async (ended: readonly { checkId: number; integrationId: number }[]) => {
      outbox.publishLater(await requeueWaiting(db, ended))
      return ended
    }, WRITES),
    record: batched((finished: readonly FinishedAttempt[]) => recordAttempts(db, finished), WRITES),
    hasLease: batched((claimed: readonly ClaimedNotification[]) => renewLeases(db, claimed), READS),
    findIntegration: batched((ids: readonly number[]) => integrationsForSending(db, ids), WRITES),
    findFlip: batched((ids: readonly number[]) => flipsForSending(db, ids), READS),
    findIncident: batched((ids: readonly string[]) => incidentsForSending(db, ids), READS),
    findCheck: batched((ids: readonly number[]) => findChecks(db, ids), READS),
    countChildren: batched((checks: readonly Depended[]) => countChildren(db, checks), READS),
    findSources: batched(async (checkIds: readonly number[]) => {
      const states = await findFacts(db, checkIds)
      return checkIds.map((id) => states.get(id)?.sources ?? null)
    }, READS),
    findLastPing: batched(
      (requested: readonly { checkId: number; until: Micros }[]) => lastPingsUntil(db, requested),
      READS,
    ),
  }
}

export function decryptConfig(
  { secrets, log }: Pick<NotifierContext, 'secrets' | 'log'>,
  { kind, sealedConfig }: Pick<IntegrationForSending, 'kind' | 'sealedConfig'>,
): unknown {
  try {
    return JSON.parse(secrets.open('integration', sealedConfig))
  } catch (error) {
    log.error({ kind, ...describeError(error) }, 'integration.not-readable')
    return undefined
  }
}
