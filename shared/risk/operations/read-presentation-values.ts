import { hash } from 'node:crypto'
import type { Knex } from 'knex'
import type { JsonValue } from '../../canonical/parse-json.ts'
import { equalSecrets } from '../../platform/process/secrets.ts'
import { insertAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { toMillis } from '../../time.ts'
import type { Committed } from '../evidence/commitment.ts'
import { findPresentation, findValues } from '../identity/presentation-store.ts'
import type { Owner } from '../jobs/job.ts'
import type { OperationDeps } from './deps.ts'

/**
 * The disclosed values of a presentation while they are kept. Each read is written into the audit log, whoever reads.
 * @param responseCode what the wallet was sent back with, where the presentation has a redirect; people who are signed
 * in to the pages need none
 * @returns undefined when there are none, or the code is wrong
 */
export async function readPresentationValues(
  db: Knex,
  actor: Actor,
  { organisationId, env }: Owner,
  id: string,
  responseCode: string | null,
  deps: Pick<OperationDeps, 'secrets' | 'now'>,
): Promise<Committed<JsonValue>[] | undefined> {
  return await db.transaction(async (tx) => {
    const presentation = await findPresentation(tx, { organisationId, env }, id)
    if (presentation?.state !== 'VERIFIED') return undefined
    const { responseCodeDigest: digest } = presentation
    const isRight = digest === null || equalSecrets(hash('sha256', responseCode ?? '', 'buffer'), digest)
    if (!isRight && actor.kind !== 'person') return undefined
    const sealed = await findValues(tx, id, new Date(toMillis(deps.now())))
    if (sealed === undefined) return undefined
    await insertAudit(tx, { ...auditedActor(actor), organisationId, action: 'presentation.values_read', target: id })
    // Sealed by us, in this form.
    return JSON.parse(deps.secrets.open('identity', sealed)) as Committed<JsonValue>[]
  })
}
