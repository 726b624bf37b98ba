import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { ConflictError, NotFoundError, ValidationError } from '../../errors.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { Micros } from '../../time.ts'
import { insertAudit } from '../accounts/audit-store.ts'
import { deleteLaterLinks, deleteLinks, insertLink, type OneTimeLink, useLink } from '../accounts/link-store.ts'
import type { StoredPasskey } from '../accounts/passkey.ts'
import {
  newRecoveryCodes,
  newTotpSecret,
  normalRecoveryCode,
  recoveryCodeText,
  totpStep,
} from '../accounts/second-factor.ts'
import {
  awaitMailConfirmation,
  beginTotp,
  deletePasskey,
  deleteSecondFactors,
  deleteTotp,
  deleteUnconfirmedFactors,
  type FactorId,
  findSecondFactors,
  findTotp,
  findUnconfirmedFactor,
  hasSecondFactor,
  insertPasskey,
  replaceRecoveryCodes,
  useRecoveryCode,
  useTotpStep,
} from '../accounts/second-factor-store.ts'
import { deleteSessions } from '../accounts/session-store.ts'
import { deleteIdentities, findUser, type User, updateEmail } from '../accounts/store.ts'
import { type Actor, auditedActor } from '../actor.ts'
import { type LinkMailDeps, queueLinkMail } from './link-mails.ts'

interface SecondFactorDeps extends LinkMailDeps {
  outbox: Pick<Outbox, 'run'>
}

/** The actor is the same person, or the operator. */
interface Person {
  id: number
  email: string
}

/** `confirmTotp` confirms the secret. @throws ConflictError when one exists */
export async function prepareTotp(db: Knex, userId: number, { secrets }: Pick<LinkMailDeps, 'secrets'>): Promise<void> {
  const isNew = await beginTotp(db, userId, secrets.seal('second-factor', newTotpSecret()))
  if (!isNew) throw new ConflictError('An authenticator app is set up already. Remove it first.')
}

/** Returns the recovery codes if the person had none. @throws ValidationError when the code is wrong */
export async function confirmTotp(
  actor: Actor,
  person: Person,
  code: string,
  now: Micros,
  deps: SecondFactorDeps,
): Promise<string[]> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const totp = await findTotp(tx, person.id)
    if (!totp || totp.isConfirmed)
      throw new NotFoundError('No authenticator app waits for confirmation. Set it up again.')
    const step = totpStep(deps.secrets.open('second-factor', totp.sealedSecret), code, now)
    if (step === null || !(await useTotpStep(tx, person.id, step))) {
      throw new ValidationError('code: does not match the current code of the app. Check the clock of the phone.')
    }
    return await noteAdded(tx, enqueue, actor, person, { totp: true }, 'authenticator app', deps)
  })
}

/** Returns the first recovery codes. @throws ConflictError when the authenticator is registered already */
export async function addPasskey(
  actor: Actor,
  person: Person,
  passkey: Omit<StoredPasskey, 'userId'> & { name: string },
  deps: SecondFactorDeps,
): Promise<string[]> {
  return await deps.outbox.run(async (tx, enqueue) => {
    if (!(await insertPasskey(tx, { ...passkey, userId: person.id }))) {
      throw new ConflictError('That passkey is registered already.')
    }
    const factor = { passkey: passkey.credentialId }
    return await noteAdded(tx, enqueue, actor, person, factor, `passkey “${passkey.name}”`, deps)
  })
}

/** Without a last factor the recovery codes end too; mails the person. @throws NotFoundError */
export async function removeSecondFactor(
  actor: Actor,
  person: Person,
  which: FactorId | { all: true },
  deps: SecondFactorDeps,
): Promise<void> {
  await deps.outbox.run(async (tx, enqueue) => {
    if (!(await deleted(tx, person.id, which)))
      throw new NotFoundError('This second factor does not exist or is removed already.')
    if (!(await hasSecondFactor(tx, person.id))) await deleteSecondFactors(tx, person.id)
    await note(tx, actor, 'second-factor.removed', 'totp' in which ? 'authenticator app' : Object.keys(which).join())
    await queueLinkMail(tx, enqueue, deps, {
      to: person.email,
      subject: `A second factor was removed at ${deps.config.siteName}`,
      lead: 'A second factor of your account was removed. If you did not remove it, choose a new password now.',
      action: 'Choose a new password',
      path: '/reset-password',
      foot: 'If you removed it, no action is needed.',
    })
  })
}

export async function renewRecoveryCodes(
  actor: Actor,
  person: Person,
  { outbox, secrets }: Pick<SecondFactorDeps, 'outbox' | 'secrets'>,
): Promise<string[]> {
  return await outbox.run(async (tx) => {
    if (!(await hasSecondFactor(tx, person.id)))
      throw new ConflictError('Recovery codes need a second factor. Add one first.')
    await note(tx, actor, 'recovery-codes.made', '')
    return await makeRecoveryCodes(tx, person.id, secrets)
  })
}

/** The owner of the mailbox confirms the factor by a link; without mail it needs none. */
async function noteAdded(
  tx: Knex,
  enqueue: Enqueue,
  actor: Actor,
  person: Person,
  factor: FactorId,
  name: string,
  deps: SecondFactorDeps,
): Promise<string[]> {
  await note(tx, actor, 'second-factor.added', name)
  const token = randomBytes(32).toString('base64url')
  const isMailed = await queueLinkMail(tx, enqueue, deps, {
    to: person.email,
    subject: `A second factor was added at ${deps.config.siteName}`,
    lead: `Your account now requires this second factor: ${name}. Confirm it, or remove it if you did not add it.`,
    action: 'Confirm or remove it',
    path: `/account/new-factor/${token}`,
    foot: 'Until you confirm it, a password reset removes it.',
  })
  if (isMailed) await awaitMailConfirmation(tx, person.id, factor, deps.secrets.digest(`new-factor:${token}`))
  const { recoveryCodes } = await findSecondFactors(tx, person.id)
  return recoveryCodes > 0 ? [] : await makeRecoveryCodes(tx, person.id, deps.secrets)
}

async function makeRecoveryCodes(tx: Knex, userId: number, secrets: LinkMailDeps['secrets']): Promise<string[]> {
  const codes = newRecoveryCodes()
  await replaceRecoveryCodes(
    tx,
    userId,
    codes.map((code) => secrets.digest(recoveryCodeText(userId, code))),
  )
  return codes
}

async function deleted(tx: Knex, userId: number, which: FactorId | { all: true }): Promise<boolean> {
  if ('totp' in which) return await deleteTotp(tx, userId)
  if ('passkey' in which) return await deletePasskey(tx, userId, which.passkey)
  return await deleteSecondFactors(tx, userId)
}

async function note(tx: Knex, actor: Actor, action: string, target: string): Promise<void> {
  await insertAudit(tx, { ...auditedActor(actor), organisationId: null, action, target })
}

/** Accepts a code of the app or a recovery code, each once; null for neither. */
export async function useSecondFactor(
  tx: Knex,
  userId: number,
  typed: string,
  now: Micros,
  { secrets }: { secrets: Secrets },
): Promise<'totp' | 'recovery-code' | null> {
  const totp = await findTotp(tx, userId)
  if (totp?.isConfirmed) {
    const step = totpStep(secrets.open('second-factor', totp.sealedSecret), typed, now)
    if (step !== null && (await useTotpStep(tx, userId, step))) return 'totp'
  }
  const code = normalRecoveryCode(typed)
  if (code === null) return null
  const isTaken = await useRecoveryCode(tx, userId, secrets.digests(recoveryCodeText(userId, code)))
  return isTaken ? 'recovery-code' : null
}

interface Recovery {
  db: Knex
  secrets: Secrets
  address: string
}

/**
 * The owner of the mailbox did not add the factor. Ends all sessions. Returns a token for a new password, because the
 * person who added the factor knows the present one. @throws NotFoundError
 */
export async function removeUnknownFactor(
  digests: readonly Buffer[],
  { db, secrets, address }: Recovery,
): Promise<string> {
  return await transaction(db, async (tx) => {
    const found = await findUnconfirmedFactor(tx, digests)
    const user = found && (await findUser(tx, found.userId))
    if (!found || !user) throw new NotFoundError('This factor is confirmed or removed already.')
    await recoverAccountNote(tx, user, 'second-factor.removed', `${found.name}, not added by the owner`, address)
    return await endAccess(tx, user.id, { secrets })
  })
}

/** Rewrites the address of a person in tables of other areas. */
type Rename = (tx: Knex, userId: number, before: string, after: string) => Promise<void>

/** Ends all sessions, removes factors added since, and returns a token for a new password. @throws NotFoundError */
export async function restoreAddress(
  link: OneTimeLink,
  user: User,
  { db, secrets, address, replaceAddress }: Recovery & { replaceAddress: Rename },
): Promise<string> {
  return await transaction(db, async (tx) => {
    if (!(await useLink(tx, link.id))) throw new NotFoundError('This link was already used.')
    await deleteLaterLinks(tx, user.id, link.id)
    if (!(await updateEmail(tx, user.id, link.email))) {
      throw new NotFoundError('Another account has this address now. Ask the operator of this installation.')
    }
    await replaceAddress(tx, user.id, user.email, link.email)
    await recoverAccountNote(tx, user, 'address.restored', link.email, address)
    return await endAccess(tx, user.id, { secrets, since: link.createdAt })
  })
}

async function endAccess(
  tx: Knex,
  userId: number,
  { secrets, since }: { secrets: Secrets; since?: Date },
): Promise<string> {
  await deleteUnconfirmedFactors(tx, userId, since)
  await deleteIdentities(tx, userId)
  await deleteSessions(tx, userId)
  await deleteLinks(tx, 'reset-password', userId)
  const token = randomBytes(32).toString('base64url')
  await insertLink(tx, { purpose: 'reset-password', digest: secrets.digest(`reset-password:${token}`), userId })
  return token
}

async function recoverAccountNote(
  tx: Knex,
  user: User,
  action: string,
  target: string,
  address: string,
): Promise<void> {
  await insertAudit(tx, { organisationId: null, userId: user.id, actor: user.email, action, target, address })
}
