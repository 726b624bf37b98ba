import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { z } from 'zod'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import {
  type EntityPassport,
  eraseRevocationReasons,
  insertEntityPassport,
  listEntityPassports,
  lockEntityPassport,
  setEntityPassportRevoked,
} from '../businesses/passport-store.ts'
import type { PassportBody } from '../businesses/requests.ts'
import { type Entity, insertEntityRecord, listEntityRecords } from '../businesses/store.ts'
import type { SigningKey } from '../domain-keys/signing-key.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { recordUsage } from '../metering/store.ts'
import { CONFIRMED_BY } from './complete-verification.ts'
import { instant, type OperationDeps } from './deps.ts'
import { certify, reserveStatusIndex, revokedBefore } from './issue-identity-passport.ts'

const DAY_MS = 86_400_000

/** Contains the newest results, without names. @throws ConflictError without a verification, or after erasure */
export async function issuePassport(
  tx: Knex.Transaction,
  owner: Owner,
  entity: Entity,
  { purpose, validForDays }: z.output<typeof PassportBody>,
  deps: OperationDeps & { publicUrl: string; signingKey: SigningKey },
) {
  if (entity.erasedAt !== null) {
    const message = 'the entity is erased'
    throw new ConflictError(message, [{ path: 'vei', code: 'ERASED', message }])
  }
  const [latest] = await listEntityRecords(tx, entity.id, 'VERIFICATION', 1)
  if (!latest) {
    const message = 'the entity has no verification'
    throw new ConflictError(message, [{ path: 'vei', code: 'NOT_VERIFIED', message }])
  }
  const verified = JSON.parse(latest.body) as {
    checks: { key: string; tier: string; result: string }[]
    timestamp: string
  }
  const { statusList, ...place } = await reserveStatusIndex(tx, owner.env, deps.publicUrl)
  const passportId = randomUUID()
  const issuedAt = instant(deps.now())
  const facts = {
    passportId,
    subjectRef: entity.vei,
    kind: 'KYB',
    purpose,
    assurance: assuranceOfChecks(verified.checks),
    evidence: verified.checks.map(({ key, tier, result }) => ({
      key,
      tier,
      result,
      observedAt: verified.timestamp,
      rawSha256: latest.answerHashes?.[key] ?? null,
    })),
    issuedAt,
    expiresAt: new Date(Date.parse(issuedAt) + validForDays * DAY_MS).toISOString(),
    statusList,
  }
  const record = await anchorRecord(tx, owner.env, 'identity.passport_issued', issuedAt, facts)
  const credential = await certify(record, deps)
  const body = canonicalize(record)
  await insertEntityRecord(tx, entity.id, 'PASSPORT', { id: passportId, body, sealedValues: null })
  await insertEntityPassport(tx, { id: passportId, entityId: entity.id, ...place, credential })
  await recordUsage(tx, { ...owner, family: 'kyb', unitKey: `passport/${passportId}` })
  await recordEvent(tx, deps.enqueue, {
    env: owner.env,
    organisationId: owner.organisationId,
    type: 'identity.passport_issued',
    dealId: passportId,
    fields: ['passportId', 'subjectRef', 'evidence'],
    occurredAt: record.timestamp,
  })
  return { passportId, record, credential, revocation: null }
}

/** Confirmation by registers alone is LOW, as for identities. */
function assuranceOfChecks(checks: readonly { key: string; tier: string; result: string }[]) {
  const factors = checks
    .filter(({ key, tier, result }) => CONFIRMED_BY[key] && tier === 'REGISTRY_VERIFIED' && result === 'MATCH')
    .map(({ key }) => `registry.${CONFIRMED_BY[key]}`)
  return { level: factors.length === 0 ? 'NONE' : 'LOW', factors }
}

/** @throws NotFoundError; ConflictError when it was revoked before */
export async function revokePassport(
  tx: Knex.Transaction,
  owner: Owner,
  passportId: string,
  reason: string,
  deps: Pick<OperationDeps, 'secrets' | 'now'>,
): Promise<{ record: object; vei: string }> {
  const passport = await lockEntityPassport(tx, owner, passportId)
  if (!passport) throw new NotFoundError('passport not found')
  if (passport.revokedAt !== null) throw revokedBefore()
  return { record: await revoke(tx, owner, passport, deps.secrets.seal('entity', reason), deps), vei: passport.vei }
}

/** Also deletes the reasons of earlier revocations. */
export async function revokeAllOfEntity(
  tx: Knex.Transaction,
  owner: Owner,
  entity: Entity,
  deps: Pick<OperationDeps, 'now'>,
): Promise<void> {
  const passports = await listEntityPassports(tx, entity.id)
  const live = passports.filter(({ revokedAt }) => revokedAt === null)
  for (const passport of live) await revoke(tx, owner, passport, null, deps)
  await eraseRevocationReasons(tx, entity.id)
}

async function revoke(
  tx: Knex.Transaction,
  { env }: Owner,
  { id }: EntityPassport,
  sealedReason: string | null,
  deps: Pick<OperationDeps, 'now'>,
): Promise<object> {
  const facts = { revocationId: randomUUID(), passportId: id }
  const record = await anchorRecord(tx, env, 'identity.passport_revoked', instant(deps.now()), facts)
  const at = new Date(toMillis(deps.now()))
  await setEntityPassportRevoked(tx, id, { at, revocation: canonicalize(record), sealedReason })
  return record
}
