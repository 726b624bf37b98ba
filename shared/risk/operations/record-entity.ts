import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { z } from 'zod'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import type { MembershipBody, OwnersBody } from '../businesses/requests.ts'
import {
  type Entity,
  type EntityRecordKind,
  eraseEntity as eraseValues,
  insertEntityRecord,
  lastMembership,
  listEntityRecords,
} from '../businesses/store.ts'
import { commit } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { instant, type OperationDeps } from './deps.ts'
import { revokeAllOfEntity } from './entity-passport.ts'

/** @throws ConflictError when the membership does not permit it */
export async function changeMembership(
  tx: Knex.Transaction,
  owner: Owner,
  entity: Entity,
  body: z.output<typeof MembershipBody>,
  deps: OperationDeps & { veiKey: Buffer },
): Promise<object> {
  const { organisation, role, action, effectiveOn = null } = body
  const name = organisation.normalize('NFKC').toUpperCase()
  const subject = createHmac('sha256', deps.veiKey).update(`MEMBERSHIP|${name}`, 'utf8').digest()
  const last = await lastMembership(tx, entity.id, subject)
  const isInside = last === 'JOIN' || last === 'CHANGE'
  if ((action === 'JOIN') === isInside) {
    const message = isInside ? 'the entity is already a member' : 'the entity is not a member'
    throw new ConflictError(message, [{ path: 'action', code: isInside ? 'INSIDE' : 'OUTSIDE', message }])
  }
  const { sealed, commitments } = commit({ organisation }, randomBytes)
  const membershipId = randomUUID()
  const organisationCommitment = commitments[0]?.commitment ?? ''
  const facts = { membershipId, vei: entity.vei, organisationCommitment, role, action, effectiveOn }
  const record = await saveRecord(
    tx,
    owner,
    entity,
    'MEMBERSHIP',
    'membership.changed',
    membershipId,
    facts,
    sealed,
    deps,
    {
      subject,
      state: action,
    },
  )
  await recordEvent(tx, deps.enqueue, {
    env: owner.env,
    organisationId: owner.organisationId,
    type: 'membership.changed',
    dealId: membershipId,
    fields: ['membershipId', 'vei', 'role', 'action'],
    occurredAt: record.timestamp,
  })
  return { membershipId, organisation, role, action, effectiveOn, record }
}

/** Owners are as the caller states; names are sealed. */
export async function stateOwners(
  tx: Knex.Transaction,
  owner: Owner,
  entity: Entity,
  { owners }: z.output<typeof OwnersBody>,
  deps: OperationDeps,
): Promise<object> {
  const statementId = randomUUID()
  const named = owners.map((one) => {
    const { sealed, commitments } = commit({ name: one.name, controlBasis: one.controlBasis }, randomBytes)
    const ownerRef = `ow_${randomBytes(16).toString('base64url')}`
    return { one, sealed, fact: { ownerRef, kind: one.kind, holdingBps: one.holdingBps, commitments } }
  })
  const stated = owners.reduce((sum, { holdingBps }) => sum + holdingBps, 0)
  const facts = {
    statementId,
    vei: entity.vei,
    tier: 'SELF_DECLARED',
    owners: named.map(({ fact }) => fact),
    unstatedBps: 10_000 - stated,
  }
  const sealed = named.map((entry) => ({ ownerRef: entry.fact.ownerRef, values: entry.sealed }))
  const record = await saveRecord(tx, owner, entity, 'OWNERS', 'kyb.owners_stated', statementId, facts, sealed, deps)
  return { statementId, owners: named.map(({ one, fact }) => ({ ownerRef: fact.ownerRef, ...one })), record }
}

/** Also revokes the passports, once. @throws ConflictError for a company */
export async function eraseEntity(
  tx: Knex.Transaction,
  owner: Owner,
  entity: Entity,
  deps: OperationDeps,
): Promise<object> {
  if (!entity.isPerson) {
    const message = 'the entity is not a person and has no personal data'
    throw new ConflictError(message, [{ path: 'vei', code: 'NO_PERSON', message }])
  }
  const [before] = await listEntityRecords(tx, entity.id, 'ERASURE', 1)
  if (before) return JSON.parse(before.body)
  await revokeAllOfEntity(tx, owner, entity, deps)
  const erasureId = randomUUID()
  const facts = { erasureId, erased: await eraseValues(tx, entity.id) }
  return await saveRecord(tx, owner, entity, 'ERASURE', 'identity.erased', erasureId, facts, null, deps)
}

async function saveRecord<Facts extends object>(
  tx: Knex.Transaction,
  owner: Owner,
  entity: Entity,
  kind: EntityRecordKind,
  eventType: string,
  id: string,
  facts: Facts,
  values: object | null,
  deps: OperationDeps,
  about: { subject?: Buffer; state?: string } = {},
) {
  const record = await anchorRecord(tx, owner.env, eventType, instant(deps.now()), facts)
  const sealedValues = values === null ? null : deps.secrets.seal('entity', JSON.stringify(values))
  await insertEntityRecord(tx, entity.id, kind, { id, body: canonicalize(record), sealedValues, ...about })
  return record
}
