import type { Knex } from 'knex'
import { ForbiddenError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { endCodes } from '../contacts/code-store.ts'
import {
  addressKey,
  CONTACT_KINDS,
  type ContactKind,
  defaultRecoveries,
  isContactKind,
  withoutShared,
  withShared,
} from '../contacts/contact-kinds.ts'
import { MAX_METHODS } from '../contacts/contact-method.ts'
import { readEntries, readOnCallSettings } from '../contacts/contact-rules.ts'
import {
  deleteContact,
  enableContact,
  ensureAccountMethods,
  insertContact,
  listContactRows,
  lockPerson,
  updateContact,
} from '../contacts/contact-store.ts'
import { replaceContactRules, saveOnCallSettings } from '../contacts/rule-store.ts'
import type { ConfigObject } from '../integrations/shown-config.ts'
import { withStoredSecrets } from '../integrations/shown-config.ts'
import { findIntegration } from '../integrations/store.ts'
import { listProjectsOf } from '../projects/member-store.ts'
import { auditContact, requireContactMethod } from './contact-config.ts'
import type { OperationDeps } from './deps.ts'
import { checkConfig, checkName, decryptConfig, requireKind } from './integration-config.ts'

type ContactDeps = Pick<OperationDeps, 'config' | 'secrets'>

interface ContactInput {
  name: unknown
  config: ConfigObject
  /** uuid of an integration of the same kind; null for an own server and token */
  via: string | null
  /** null: the default of the kind */
  recoveries: boolean | null
}

interface NewContactInput extends ContactInput {
  userId: number
  kind: string
  /** only an operator vouches for an address */
  isVerified?: boolean
}

/** @throws ValidationError for the first invalid member, ForbiddenError beyond 10 methods */
export async function addContactMethod(
  db: Knex,
  actor: Actor,
  input: NewContactInput,
  deps: ContactDeps,
): Promise<string> {
  const kind = requireContactKind(input.kind)
  const name = checkName(input.name)
  const { viaId, own } = await checkContact(db, deps, { ...input, kind })
  const sealedConfig = deps.secrets.seal('contact', JSON.stringify(own))
  return await transaction(db, async (tx) => {
    await lockPerson(tx, input.userId)
    await ensureAccountMethods(tx, [input.userId])
    if ((await listContactRows(tx, [input.userId])).length >= MAX_METHODS) {
      throw new ForbiddenError(`A person has at most ${MAX_METHODS} contact methods.`)
    }
    const recoveries = input.recoveries ?? defaultRecoveries(kind)
    const isVerified = input.isVerified === true
    const contact = { userId: input.userId, kind, name, sealedConfig, viaId, recoveries, isVerified }
    const id = await insertContact(tx, contact)
    await auditContact(tx, actor, { userId: input.userId, action: 'contact.created', target: kind })
    if (isVerified) await auditContact(tx, actor, { userId: input.userId, action: 'contact.verified', target: kind })
    return id
  })
}

/** A changed recipient must be verified again. Absent secrets stay. @throws ValidationError, NotFoundError */
export async function changeContactMethod(
  db: Knex,
  actor: Actor,
  { userId, id, ...input }: Omit<ContactInput, 'recoveries'> & { userId: number; id: string; recoveries: boolean },
  deps: ContactDeps,
): Promise<{ isVerified: boolean }> {
  const name = checkName(input.name)
  const method = await requireContactMethod(db, deps.secrets, { userId, id })
  const { kind } = method
  const checked = method.isAccount
    ? null
    : await checkContact(db, deps, { ...input, kind, userId, stored: method.config })
  return await transaction(db, async (tx) => {
    const keepsAddress =
      checked === null ||
      (method.config !== null && addressKey(kind, method.config) === addressKey(kind, checked.whole))
    const config = checked && {
      sealed: deps.secrets.seal('contact', JSON.stringify(checked.own)),
      viaId: checked.viaId,
      keepsAddress,
    }
    await updateContact(tx, id, { name, recoveries: input.recoveries, ...(config && { config }) })
    if (!keepsAddress) await endCodes(tx, id)
    await auditContact(tx, actor, { userId, action: 'contact.changed', target: kind })
    return { isVerified: method.isVerified && keepsAddress }
  })
}

export async function removeContactMethod(
  db: Knex,
  actor: Actor,
  { userId, id }: { userId: number; id: string },
  { secrets }: Pick<ContactDeps, 'secrets'>,
): Promise<void> {
  const { kind, isAccount } = await requireContactMethod(db, secrets, { userId, id })
  if (isAccount)
    throw new ForbiddenError('The address of the account cannot be deleted. Change it on the account page.')
  await transaction(db, async (tx) => {
    if (await deleteContact(tx, userId, id))
      await auditContact(tx, actor, { userId, action: 'contact.deleted', target: kind })
  })
}

export async function enableContactMethod(
  db: Knex,
  actor: Actor,
  { userId, id }: { userId: number; id: string },
  { secrets }: Pick<ContactDeps, 'secrets'>,
): Promise<void> {
  const { kind } = await requireContactMethod(db, secrets, { userId, id })
  await transaction(db, async (tx) => {
    await enableContact(tx, userId, id)
    await auditContact(tx, actor, { userId, action: 'contact.enabled', target: kind })
  })
}

/** Both lists of a person. @throws ValidationError */
export async function saveContactRules(
  db: Knex,
  userId: number,
  input: { critical: JsonValue; other: JsonValue },
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockPerson(tx, userId)
    const methods = (await listContactRows(tx, [userId])).map(({ id }) => id)
    const critical = readEntries(input.critical, 'critical', methods)
    const other = readEntries(input.other, 'other', methods)
    await replaceContactRules(tx, userId, { critical, other })
  })
}

/** Quiet hours and shift notices. @throws ValidationError */
export async function changeOnCallSettings(db: Knex, userId: number, body: JsonObject): Promise<void> {
  await saveOnCallSettings(db, userId, readOnCallSettings(body))
}

/** @throws ValidationError */
function requireContactKind(name: string): ContactKind {
  const kind = requireKind(name).kind
  if (isContactKind(kind)) return kind
  const message = `kind must be one of ${CONTACT_KINDS.join(', ')}`
  throw new ValidationError(message, [{ path: 'kind', code: 'UNKNOWN_VALUE', message }])
}

/** `own` is stored; `whole` includes the members of the integration. */
async function checkContact(
  db: Knex,
  { config: rules, secrets }: ContactDeps,
  input: { kind: ContactKind; userId: number; config: ConfigObject; via: string | null; stored?: ConfigObject | null },
): Promise<{ viaId: number | null; own: ConfigObject; whole: ConfigObject }> {
  const kind = requireKind(input.kind)
  const via = input.via === null ? null : await requireVia(db, input.userId, input.kind, input.via)
  const shared = via && decryptConfig(via, secrets)
  const own = shared ? withoutShared(input.kind, input.config) : input.config
  const given = shared ? withShared(input.kind, own, shared) : own
  const whole = await checkConfig(
    { db, config: rules },
    0,
    kind,
    input.stored ? withStoredSecrets(kind, given, input.stored) : given,
  )
  return { viaId: via?.id ?? null, own: shared ? withoutShared(input.kind, whole) : whole, whole }
}

/** @throws ValidationError alike for unknown integrations and those that the person may not view */
async function requireVia(db: Knex, userId: number, kind: string, uuid: string) {
  for (const { id } of await listProjectsOf(db, userId)) {
    const found = await findIntegration(db, id, uuid)
    if (found?.kind === kind) return found
  }
  const message = `via must be the id of an integration of type ${kind} that you may view`
  throw new ValidationError(message, [{ path: 'via', code: 'NOT_FOUND', message }])
}
