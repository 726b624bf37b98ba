import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { Owner } from '../../jobs/job.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import type { BusinessCheck } from '../businesses/checks.ts'
import { veisOf } from '../businesses/entity.ts'
import type { VerificationRequest } from '../businesses/requests.ts'
import { ensureEntity, insertEntityRecord } from '../businesses/store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { recordUsage } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'kyb.completed'

export const CONFIRMED_BY: Readonly<Record<string, string>> = {
  'gstin.status': 'gstin',
  'cin.status': 'cin',
  lei: 'lei',
}

/** Stores entity, anchored findings, one unit and one event. */
export async function completeVerification(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  found: {
    request: VerificationRequest
    checks: readonly BusinessCheck[]
    /** SHA-256 of the register's response, by the key of a check */
    answerHashes: Readonly<Record<string, string | null>>
    veiKey: Buffer
  },
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<object> {
  const { request, checks, veiKey } = found
  const { legalName: _name, dealId, ...identifiers } = request
  const timestamp = instant(deps.now())
  const veis = veisOf(veiKey, identifiers)
  const tiers = Object.fromEntries(
    checks.flatMap(({ key, tier }) => (CONFIRMED_BY[key] === undefined ? [] : [[CONFIRMED_BY[key], tier]])),
  )
  const entity = veis && (await ensureEntity(tx, owner, veis, identifiers, tiers))
  const record = await anchorRecord(tx, owner.env, EVENT_TYPE, timestamp, {
    verificationId: id,
    entityId: entity?.id ?? null,
    vei: entity?.vei ?? null,
    checks,
  })
  if (entity) {
    const { answerHashes } = found
    const body = canonicalize(record)
    await insertEntityRecord(tx, entity.id, 'VERIFICATION', { id, body, sealedValues: null, answerHashes })
  }
  await recordUsage(tx, { ...owner, family: 'kyb', unitKey: `verification/${id}` })
  await recordEvent(tx, deps.enqueue, {
    env: owner.env,
    organisationId: owner.organisationId,
    type: EVENT_TYPE,
    dealId: dealId ?? id,
    fields: ['verificationId', 'vei', 'checks'],
    occurredAt: timestamp,
  })
  return record
}
