import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import type { FinancingKeys, Fingerprint } from '../first-financing/fingerprint.ts'
import { allFingerprints } from '../first-financing/fingerprints-of-request.ts'
import type { Registration } from '../first-financing/registration.ts'
import { takeUnnamed } from '../first-financing/registration-store.ts'
import { recordFingerprints } from '../first-financing/store.ts'
import { decryptedReceivable } from '../first-financing/view.ts'
import type { OperationDeps } from './deps.ts'

/** Registrations of one transaction: four fingerprints each. */
const PAGE = 100

/** Gives a registration the names of the live epochs that it does not have yet. */
export async function replaceFingerprints(
  tx: Knex.Transaction,
  { organisationId, env, id, state, firstSeenAt }: Registration,
  fingerprints: readonly Fingerprint[],
): Promise<void> {
  if (state !== 'REGISTERED' && state !== 'FINANCED') return
  await recordFingerprints(
    tx,
    { organisationId, env, recordId: id, fingerprints },
    { state, expiresAt: null, firstSeenAt },
  )
}

/**
 * Names anew, under an epoch that has begun, what was registered by its fields before: those we may read. Who registered
 * blind does it itself, by registering again (docs/spec/evidence-families.md#blind-mode-and-epochs).
 * @param after the last of the page before; each is tried once, also where another holds its name
 * @returns the last of this page; null when there are no more
 */
export async function replaceFieldCommitments(
  tx: Knex.Transaction,
  env: ApiEnv,
  epoch: number,
  after: string | null,
  { keys, secrets }: { keys: FinancingKeys; secrets: OperationDeps['secrets'] },
): Promise<string | null> {
  const registrations = await takeUnnamed(tx, env, epoch, { after, limit: PAGE })
  for (const registration of registrations) {
    const fields = decryptedReceivable(registration, secrets)?.fields
    if (fields) await replaceFingerprints(tx, registration, allFingerprints(keys, fields))
  }
  return registrations.length === PAGE ? (registrations.at(-1)?.id ?? null) : null
}
