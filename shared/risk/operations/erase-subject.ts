import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { toMillis } from '../../time.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { eraseValues, findErasure, insertErasure } from '../identity/erasure-store.ts'
import { listPassports } from '../identity/passport-store.ts'
import type { Owner } from '../jobs/job.ts'
import { instant, type OperationDeps } from './deps.ts'
import { revokeAll } from './issue-identity-passport.ts'
import { unsealSubject } from './manage-subject.ts'
import { moveSubject } from './move-subject.ts'

/**
 * Erases a subject: values, salts, what it is called, reasons; its passports and its identity are revoked. What is
 * anchored stays and verifies, and says nothing any more. A second erasure gives the same receipt.
 * @throws NotFoundError
 */
export async function eraseSubject(
  tx: Knex.Transaction,
  owner: Owner,
  subjectId: string,
  deps: OperationDeps,
): Promise<object> {
  const subject = await unsealSubject(tx, owner, subjectId)
  const before = await findErasure(tx, subjectId)
  if (before !== undefined) return JSON.parse(before)
  const at = new Date(toMillis(deps.now()))
  const passports = await revokeAll(tx, owner, await listPassports(tx, subjectId), deps)
  if (subject.state !== 'REVOKED') {
    await moveSubject(tx, subject, 'REVOKED', { by: 'ERASURE', reasonCode: 'ERASED' }, deps)
  }
  const counts = { ...(await eraseValues(tx, subjectId, at)), passports }
  const facts = { erasureId: randomUUID(), subjectRef: subject.ref, counts }
  const record = await anchorRecord(tx, owner.env, 'identity.erased', instant(deps.now()), facts)
  await insertErasure(tx, subjectId, canonicalize(record), at)
  return record
}
