import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { issueSdJwt } from '../credentials/issue.ts'
import type { SigningKey } from '../domain-keys/signing-key.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { assuranceOf } from '../identity/assurance.ts'
import type { Passport } from '../identity/passport.ts'
import {
  insertPassport,
  lockPassport,
  reserveIndex,
  STATUS_LIST_SIZE,
  setRevoked,
  takeStatusList,
} from '../identity/passport-store.ts'
import type { Subject } from '../identity/subject.ts'
import { factorsOf } from '../identity/verification.ts'
import { listVerifications } from '../identity/verification-store.ts'
import { recordUsage } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const DAY_MS = 86_400_000

export function passportType(publicUrl: string): string {
  return `${publicUrl}/credentials/kyc-passport/1`
}

export function statusListUri(publicUrl: string, n: number): string {
  return `${publicUrl}/v1/identity/status-lists/${n}`
}

/** Contains no names. @throws ConflictError for a subject that is not verified now */
export async function issueIdentityPassport(
  tx: Knex.Transaction,
  owner: Owner,
  subject: Subject,
  { purpose, validForDays }: { purpose: string; validForDays: number },
  deps: OperationDeps & { publicUrl: string; signingKey: SigningKey },
) {
  const nowMs = toMillis(deps.now())
  const factors = factorsOf(await listVerifications(tx, subject.id))
  const assurance = assuranceOf(factors, nowMs)
  if (subject.state !== 'VERIFIED' || assurance.expiresAt === null) {
    const message = `the identity is ${subject.state}; a passport requires VERIFIED and a current assurance`
    throw new ConflictError(message, [{ path: 'subjectId', code: subject.state, message }])
  }
  const place = await reserveStatusIndex(tx, owner.env, deps.publicUrl)
  const passportId = randomUUID()
  const issuedAt = instant(deps.now())
  const expiresAt = new Date(Math.min(nowMs + validForDays * DAY_MS, assurance.expiresAt.getTime()))
  const counted = new Set<object>(assurance.factors)
  const facts = {
    passportId,
    subjectRef: subject.ref,
    kind: 'KYC',
    purpose,
    assurance: { level: assurance.level, factors: assurance.factors.map(({ key }) => key) },
    evidence: factors
      .filter((factor) => counted.has(factor))
      .map(({ key, tier, observedAt, rawSha256 }) => ({ key, tier, observedAt: observedAt.toISOString(), rawSha256 })),
    issuedAt,
    expiresAt: expiresAt.toISOString(),
    statusList: place.statusList,
  }
  const record = await anchorRecord(tx, owner.env, 'identity.passport_issued', issuedAt, facts)
  const credential = await certify(record, deps)
  const body = canonicalize(record)
  await insertPassport(tx, { id: passportId, subjectId: subject.id, ...place, body, credential, expiresAt })
  await recordUsage(tx, { ...owner, family: 'identity', unitKey: `passport/${passportId}` })
  await recordEvent(tx, deps.enqueue, {
    ...owner,
    type: 'identity.passport_issued',
    dealId: passportId,
    fields: ['passportId', 'subjectRef', 'assurance', 'evidence'],
    occurredAt: issuedAt,
  })
  return { passportId, record, credential, revocation: null }
}

/** A random index does not reveal the number of passports. */
export async function reserveStatusIndex(tx: Knex.Transaction, env: ApiEnv, publicUrl: string) {
  const listN = await takeStatusList(tx, env)
  for (;;) {
    const idx = randomInt(STATUS_LIST_SIZE)
    if (await reserveIndex(tx, listN, idx))
      return { listN, idx, statusList: { uri: statusListUri(publicUrl, listN), idx } }
  }
}

export async function certify(
  record: { issuedAt: string; expiresAt: string; statusList: { uri: string; idx: number } },
  { publicUrl, signingKey }: { publicUrl: string; signingKey: SigningKey },
): Promise<string> {
  const { statusList, ...rest } = record
  const claims = {
    iss: publicUrl,
    vct: passportType(publicUrl),
    iat: Math.floor(Date.parse(record.issuedAt) / 1000),
    exp: Math.floor(Date.parse(record.expiresAt) / 1000),
    status: { status_list: statusList },
    ...rest,
  }
  const signer = { kid: signingKey.publicJwk.kid ?? '', key: signingKey.privateJwk }
  return await issueSdJwt(claims, {}, signer, randomBytes)
}

/** @throws NotFoundError; ConflictError when it was revoked before */
export async function revokeIdentityPassport(
  tx: Knex.Transaction,
  owner: Owner,
  passportId: string,
  reason: string,
  deps: Pick<OperationDeps, 'secrets' | 'now'>,
) {
  const passport = await lockPassport(tx, owner, passportId)
  if (!passport) throw new NotFoundError('passport not found')
  if (passport.revokedAt !== null) throw revokedBefore()
  return await revoke(tx, owner, passport, deps.secrets.seal('identity', reason), deps)
}

export function revokedBefore(): ConflictError {
  const message = 'the passport is already revoked'
  return new ConflictError(message, [{ path: 'passportId', code: 'REVOKED', message }])
}

/** Returns the number of revoked passports. */
export async function revokeAll(
  tx: Knex.Transaction,
  owner: Owner,
  passports: readonly Passport[],
  deps: Pick<OperationDeps, 'now'>,
): Promise<number> {
  const live = passports.filter(({ revokedAt }) => revokedAt === null)
  for (const passport of live) await revoke(tx, owner, passport, null, deps)
  return live.length
}

async function revoke(
  tx: Knex.Transaction,
  { env }: Owner,
  passport: Passport,
  sealedReason: string | null,
  deps: Pick<OperationDeps, 'now'>,
) {
  const facts = { revocationId: randomUUID(), passportId: passport.id }
  const record = await anchorRecord(tx, env, 'identity.passport_revoked', instant(deps.now()), facts)
  await setRevoked(tx, passport.id, {
    at: new Date(toMillis(deps.now())),
    revocation: canonicalize(record),
    sealedReason,
  })
  return record
}
