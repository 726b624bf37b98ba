import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { ConflictError, NotFoundError, ValidationError } from '../../errors.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import type { Micros } from '../../time.ts'
import { insertAudit } from '../accounts/audit-store.ts'
import type { StoredPasskey } from '../accounts/passkey.ts'
import { newRecoveryCodes, recoveryCodeText } from '../accounts/recovery-codes.ts'
import {
  awaitMailConfirmation,
  beginTotp,
  deletePasskey,
  deleteSecondFactors,
  deleteTotp,
  type FactorId,
  findSecondFactors,
  findTotp,
  hasSecondFactor,
  insertPasskey,
  replaceRecoveryCodes,
  takeTotpStep,
} from '../accounts/second-factor-store.ts'
import { newTotpSecret, totpStep } from '../accounts/totp.ts'
import { type Actor, auditedActor } from '../actor.ts'
import { type LinkMailDeps, queueLinkMail } from './queue-link-mail.ts'

interface SecondFactorDeps extends LinkMailDeps {
  outbox: Pick<Outbox, 'run'>
}

/** Whose second factor it is; the actor is the same person, or the operator. */
interface Person {
  id: number
  email: string
}

/**
 * Makes a secret for an authenticator app, which counts once a code of it was typed (`confirmTotp`).
 * @throws ConflictError when there is a confirmed one
 */
export async function prepareTotp(db: Knex, userId: number, { secrets }: Pick<LinkMailDeps, 'secrets'>): Promise<void> {
  const isNew = await beginTotp(db, userId, secrets.seal('second-factor', newTotpSecret()))
  if (!isNew) throw new ConflictError('An authenticator app is set up already. Remove it first.')
}

/**
 * Takes the first code of an authenticator app: from now on a password alone signs nobody in.
 * @returns the recovery codes, when the person had none; they cannot be shown again
 * @throws ValidationError when the code is wrong
 */
export async function confirmTotp(
  actor: Actor,
  person: Person,
  code: string,
  now: Micros,
  deps: SecondFactorDeps,
): Promise<string[]> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const totp = await findTotp(tx, person.id)
    if (!totp || totp.isConfirmed) throw new NotFoundError('There is no authenticator app to confirm. Begin again.')
    const step = totpStep(deps.secrets.open('second-factor', totp.sealedSecret), code, now)
    if (step === null || !(await takeTotpStep(tx, person.id, step))) {
      throw new ValidationError('code: is not the code that the app shows now. Is the clock of the phone right?')
    }
    return await noteAdded(tx, enqueue, actor, person, { totp: true }, 'authenticator app', deps)
  })
}

/**
 * Keeps a passkey that was verified.
 * @returns the recovery codes, when the person had none; they cannot be shown again
 * @throws ConflictError when the authenticator is known already
 */
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

/**
 * Takes one second factor away, or all of them. With the last one the recovery codes go too. The person is told by mail.
 * @throws NotFoundError when there is no such one
 */
export async function removeSecondFactor(
  actor: Actor,
  person: Person,
  which: FactorId | { all: true },
  deps: SecondFactorDeps,
): Promise<void> {
  await deps.outbox.run(async (tx, enqueue) => {
    if (!(await deleted(tx, person.id, which))) throw new NotFoundError('There is no such second factor.')
    if (!(await hasSecondFactor(tx, person.id))) await deleteSecondFactors(tx, person.id)
    await note(tx, actor, 'second-factor.removed', 'totp' in which ? 'authenticator app' : Object.keys(which).join())
    await queueLinkMail(tx, enqueue, deps, {
      to: person.email,
      subject: `A second factor was removed at ${deps.config.siteName}`,
      lead: 'A second factor of your account was removed. If it was not you, choose a new password at once:',
      path: '/reset-password',
      foot: 'If it was you, nothing needs to be done.',
    })
  })
}

/** Makes ten new recovery codes; those before open nothing any more. */
export async function renewRecoveryCodes(
  actor: Actor,
  person: Person,
  { outbox, secrets }: Pick<SecondFactorDeps, 'outbox' | 'secrets'>,
): Promise<string[]> {
  return await outbox.run(async (tx) => {
    if (!(await hasSecondFactor(tx, person.id))) throw new ConflictError('There is no second factor to recover from.')
    await note(tx, actor, 'recovery-codes.made', '')
    return await makeRecoveryCodes(tx, person.id, secrets)
  })
}

/** Sends the link by which the owner of the mailbox confirms the factor. Without a mail server it needs no confirmation. */
async function noteAdded(
  tx: Knex,
  enqueue: Enqueue,
  actor: Actor,
  person: Person,
  factor: FactorId,
  what: string,
  deps: SecondFactorDeps,
): Promise<string[]> {
  await note(tx, actor, 'second-factor.added', what)
  const token = randomBytes(32).toString('base64url')
  const isMailed = await queueLinkMail(tx, enqueue, deps, {
    to: person.email,
    subject: `A second factor was added at ${deps.config.siteName}`,
    lead: `From now on your account also asks for this: ${what}. Confirm it here, or remove it if you did not add it:`,
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
