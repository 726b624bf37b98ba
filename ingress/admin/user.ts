import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { transaction } from '#shared/platform/database/db.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { deleteLinks, insertLink } from '#shared/tenancy/accounts/link-store.ts'
import { hashPassword, passwordProblem } from '#shared/tenancy/accounts/password.ts'
import { isRole, normalEmail, roles } from '#shared/tenancy/accounts/roles.ts'
import { deleteAllSessions, deleteSessions } from '#shared/tenancy/accounts/session-store.ts'
import {
  findUserByEmail,
  hasOwner,
  insertMembership,
  insertUser,
  listMemberships,
  listUsers,
  type User,
} from '#shared/tenancy/accounts/store.ts'
import { auditedActor } from '#shared/tenancy/actor.ts'
import { removeSecondFactor } from '#shared/tenancy/operations/second-factor.ts'
import { ensureOrganisation, insertOrganisation } from '#shared/tenancy/organisations/store.ts'
import { type Command, lines, type Options, operatorOf, secretOf, storedOutbox, textOf, UsageError } from './command.ts'

const create: Command = {
  noun: 'user',
  verb: 'create',
  summary: 'Create a user for the web pages',
  examples: ['user create --email ada@example.org --organisation Acme --role manager --password -'],
  options: {
    email: { description: 'e-mail address with which the user signs in', value: 'E', required: true },
    password: {
      description:
        'at least 12 characters; with - it is read from standard input, because all users of the machine see a command line',
      value: 'P',
      required: true,
    },
    name: { description: 'name of the user on the pages', value: 'NAME' },
    organisation: {
      description:
        'organisation of the user, created if it does not exist (default: a new one named after the address)',
      value: 'NAME',
    },
    role: { description: `one of ${roles.join(', ')} (default: owner)`, value: 'ROLE' },
  },
  async run(options, { db, actor, config: { siteName } }) {
    const email = normalEmail(textOf(options, 'email'))
    if (email === null) throw new UsageError(`--email must be an e-mail address, not "${textOf(options, 'email')}"`)
    const password = await secretOf(options, 'password')
    const problem = passwordProblem(password, { email, siteName })
    if (problem !== null) throw new UsageError(problem)
    const role = typeof options.role === 'string' ? options.role : 'owner'
    if (!isRole(role)) throw new UsageError(`--role must be one of ${roles.join(', ')}, not "${role}"`)
    const passwordHash = await hashPassword(password)
    const { userId, organisation } = await transaction(db, async (tx) => {
      const name = typeof options.name === 'string' ? options.name : ''
      const user = await insertUser(tx, { email, name, passwordHash })
      if (!user) throw new UsageError(`a user with the address ${email} exists already`)
      const organisation =
        options.organisation === undefined
          ? await insertOrganisation(tx, email)
          : await ensureOrganisation(tx, textOf(options, 'organisation'))
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
  summary: 'List the users of this installation and their organisations',
  options: {},
  async run(_options, { db }) {
    const users = await listUsers(db)
    const text = users.map(
      ({ email, name, memberships }) => `${email}  ${name || '–'}  ${memberships.join(', ') || '–'}`,
    )
    return { json: users, text: text.join('\n') }
  },
}

/** @throws UsageError if no user has the address of --email */
export async function requireUser(options: Options, db: Knex): Promise<User> {
  const email = normalEmail(textOf(options, 'email'))
  const user = email === null ? null : await findUserByEmail(db, email)
  if (!user) throw new UsageError(`no user has the address ${textOf(options, 'email')}: user list shows all users`)
  return user
}

/** Prints a link, because a password would remain in the history of the shell. */
const resetPassword: Command = {
  noun: 'user',
  verb: 'reset-password',
  summary: 'Print a link with which a user chooses a new password; it is valid once, for an hour, and no mail is sent',
  options: { email: { description: 'e-mail address of the user', value: 'E', required: true } },
  async run(options, { db, secrets, config, actor }) {
    const user = await requireUser(options, db)
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
  summary: 'Remove authenticator app, passkeys and recovery codes of a user, who then signs in with the password only',
  options: { email: { description: 'e-mail address of the user', value: 'E', required: true } },
  async run(options, { db, secrets, config, actor }) {
    const user = await requireUser(options, db)
    await removeSecondFactor(operatorOf({ actor }), user, { all: true }, { outbox: storedOutbox(db), secrets, config })
    const text = `${user.email} now signs in with the password only`
    return { json: { email: user.email }, text }
  },
}

const signOut: Command = {
  noun: 'user',
  verb: 'sign-out',
  summary: 'End all sessions of a user, or of every user',
  examples: ['user sign-out --email ada@example.org', 'user sign-out --all'],
  options: {
    email: { description: 'e-mail address of the user', value: 'E' },
    all: { description: 'end the sessions of every user' },
  },
  async run(options, { db, actor }) {
    if ((options.email === undefined) === (options.all !== true)) throw new UsageError('give either --email or --all')
    const user = options.all === true ? null : await requireUser(options, db)
    const ended = await transaction(db, async (tx) => {
      const memberships = user ? await listMemberships(tx, user.id) : [{ organisationId: null }]
      for (const { organisationId } of memberships) {
        const entry = { organisationId, action: 'sessions.ended-by-operator', target: user?.email ?? 'every person' }
        await insertAudit(tx, { ...auditedActor(operatorOf({ actor })), ...entry })
      }
      return user ? await deleteSessions(tx, user.id) : await deleteAllSessions(tx)
    })
    return { json: { email: user?.email ?? null, ended }, text: `sessions ended: ${ended}` }
  },
}

/** A new link replaces the previous one. */
const setUpLink: Command = {
  noun: 'setup-link',
  summary: 'Print the one-time link by which the first owner signs up',
  options: {},
  async run(_options, { db, secrets, config }) {
    const token = randomBytes(32).toString('base64url')
    const isNeeded = await transaction(db, async (tx) => {
      if (await hasOwner(tx)) return false
      await deleteLinks(tx, 'set-up')
      await insertLink(tx, { purpose: 'set-up', digest: secrets.digest(`set-up:${token}`) })
      return true
    })
    const link = isNeeded ? `${config.publicUrl}/set-up/${token}` : null
    const text = link ?? `An owner has signed up: sign in at ${config.publicUrl}/sign-in, or use user reset-password.`
    return { json: { link }, text }
  },
}

export const userCommands: readonly Command[] = [create, list, resetPassword, removeSecondFactors, signOut, setUpLink]
