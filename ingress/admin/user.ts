import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { transaction } from '#shared/platform/database/db.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { deleteLinks, insertLink } from '#shared/tenancy/accounts/link-store.ts'
import { hashPassword, passwordProblem } from '#shared/tenancy/accounts/password.ts'
import { isRole, normalEmail, roles } from '#shared/tenancy/accounts/roles.ts'
import {
  findUserByEmail,
  hasAdministrator,
  insertMembership,
  insertUser,
  listMemberships,
  listUsers,
  type User,
} from '#shared/tenancy/accounts/store.ts'
import { auditedActor } from '#shared/tenancy/actor.ts'
import { removeSecondFactor } from '#shared/tenancy/operations/second-factor.ts'
import { ensureOrganisation, insertOrganisation } from '#shared/tenancy/organisations/store.ts'
import { type Command, type Given, lines, operatorOf, secretOf, storedOutbox, textOf, UsageError } from './command.ts'

const create: Command = {
  noun: 'user',
  verb: 'create',
  summary: 'Create a user for the web pages',
  examples: ['user create --email ada@example.org --organisation Acme --role admin --password -'],
  options: {
    email: { description: 'address, by which the user signs in', value: 'E', required: true },
    password: {
      description: 'at least 12 characters; - reads it from standard input, hidden from other users',
      value: 'P',
      required: true,
    },
    name: { description: 'what people call the user', value: 'NAME' },
    organisation: {
      description: 'name of the organisation to join, created if it does not exist (default: a new organisation)',
      value: 'NAME',
    },
    role: { description: `one of ${roles.join(', ')} (owner)`, value: 'ROLE' },
  },
  async run(given, { db, actor }) {
    const email = normalEmail(textOf(given, 'email'))
    if (email === null) throw new UsageError('--email is not an e-mail address')
    const password = await secretOf(given, 'password')
    const problem = passwordProblem(password, email)
    if (problem !== null) throw new UsageError(problem)
    const role = typeof given.role === 'string' ? given.role : 'owner'
    if (!isRole(role)) throw new UsageError(`--role is none of ${roles.join(', ')}`)
    const passwordHash = await hashPassword(password)
    const { userId, organisation } = await transaction(db, async (tx) => {
      const name = typeof given.name === 'string' ? given.name : ''
      const user = await insertUser(tx, { email, name, passwordHash })
      if (!user) throw new UsageError(`${email} has an account already`)
      const organisation =
        given.organisation === undefined
          ? await insertOrganisation(tx, email)
          : await ensureOrganisation(tx, textOf(given, 'organisation'))
      await insertMembership(tx, { organisationId: organisation.id, userId: user.id, role })
      await insertAudit(tx, {
        ...auditedActor(operatorOf({ actor })),
        organisationId: organisation.id,
        action: 'user.created',
        target: `${email} as ${role}`,
      })
      if (role === 'owner') await deleteLinks(tx, 'set-up')
      return { userId: user.uuid, organisation: organisation.name }
    })
    const created = { userId, email, role, organisation }
    return { json: created, text: lines(created) }
  },
}

const list: Command = {
  noun: 'user',
  verb: 'list',
  summary: 'List the people of this installation with their organisations',
  options: {},
  async run(_given, { db }) {
    const users = await listUsers(db)
    const text = users.map(
      ({ email, name, memberships }) => `${email}  ${name || '–'}  ${memberships.join(', ') || '–'}`,
    )
    return { json: users, text: text.join('\n') }
  },
}

/** @throws UsageError if no user has the address of --email */
export async function personOf(given: Given, db: Knex): Promise<User> {
  const email = normalEmail(textOf(given, 'email'))
  const user = email === null ? null : await findUserByEmail(db, email)
  if (!user) throw new UsageError(`no user has the address ${textOf(given, 'email')}; user list shows all users`)
  return user
}

/** Prints a link instead of a password, which then is never in the shell's history. */
const resetPassword: Command = {
  noun: 'user',
  verb: 'reset-password',
  summary: 'Print a link to choose a new password; it works once, for an hour, without mail',
  options: { email: { description: 'address by which the person signs in', value: 'E', required: true } },
  async run(given, { db, secrets, config, actor }) {
    const user = await personOf(given, db)
    const token = randomBytes(32).toString('base64url')
    await transaction(db, async (tx) => {
      await deleteLinks(tx, 'reset-password', user.id)
      const digest = secrets.digest(`reset-password:${token}`)
      await insertLink(tx, { purpose: 'reset-password', digest, userId: user.id })
      for (const { organisationId } of await listMemberships(tx, user.id)) {
        await insertAudit(tx, {
          ...auditedActor(operatorOf({ actor })),
          organisationId,
          action: 'password.link-made',
          target: user.email,
        })
      }
    })
    const link = `${config.publicUrl}/reset-password/${token}`
    return { json: { email: user.email, link }, text: link }
  },
}

/** Recovers an account whose phone, passkeys and recovery codes are all lost. */
const removeSecondFactors: Command = {
  noun: 'user',
  verb: 'remove-second-factors',
  summary:
    'Remove authenticator app, passkeys and recovery codes of a user: the password alone is enough to sign in again',
  options: { email: { description: 'address by which the person signs in', value: 'E', required: true } },
  async run(given, { db, secrets, config, actor }) {
    const user = await personOf(given, db)
    await removeSecondFactor(operatorOf({ actor }), user, { all: true }, { outbox: storedOutbox(db), secrets, config })
    const text = `${user.email} signs in with the password alone now`
    return { json: { email: user.email }, text }
  },
}

/** A new link replaces the previous one. */
const setUpLink: Command = {
  noun: 'setup-link',
  summary: 'Print the one-time link by which the first owner signs up',
  options: {},
  async run(_given, { db, secrets, config }) {
    const token = randomBytes(32).toString('base64url')
    const isNeeded = await transaction(db, async (tx) => {
      if (await hasAdministrator(tx)) return false
      await deleteLinks(tx, 'set-up')
      await insertLink(tx, { purpose: 'set-up', digest: secrets.digest(`set-up:${token}`) })
      return true
    })
    const link = isNeeded ? `${config.publicUrl}/set-up/${token}` : null
    const text = link ?? `An owner has signed up: sign in at ${config.publicUrl}/sign-in, or use user reset-password.`
    return { json: { link }, text }
  },
}

export const userCommands: readonly Command[] = [create, list, resetPassword, removeSecondFactors, setUpLink]
