import { randomBytes } from 'node:crypto'
import { transaction } from '#shared/platform/database/db.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { normalEmail } from '#shared/tenancy/accounts/email.ts'
import { deleteLinks, insertLink } from '#shared/tenancy/accounts/link-store.ts'
import { hashPassword, passwordProblem } from '#shared/tenancy/accounts/password.ts'
import { isRole, roles } from '#shared/tenancy/accounts/roles.ts'
import { hasAdministrator, insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { auditedActor } from '#shared/tenancy/actor.ts'
import { ensureOrganisation, insertOrganisation } from '#shared/tenancy/organisations/store.ts'
import { type Command, lines, operatorOf, secretOf, textOf, UsageError } from './command.ts'

const create: Command = {
  noun: 'user',
  verb: 'create',
  summary: 'Create a user for the web pages',
  options: {
    email: { description: 'address, by which the user signs in', value: 'E', required: true },
    password: {
      description: 'at least 12 characters; - reads it from standard input, where nobody else sees it',
      value: 'P',
      required: true,
    },
    name: { description: 'what people call the user', value: 'NAME' },
    organisation: {
      description: 'name of the organisation to join, made when there is none (default: a new one of their own)',
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

/** Prints nothing once somebody can sign in as owner. A new link replaces the one before. */
const setUpLink: Command = {
  noun: 'setup-link',
  summary: 'Print the one-time link by which the first administrator signs up; nothing once there is one',
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
    return { json: { link }, text: link === null ? '' : `set up here     ${link}` }
  },
}

export const userCommands: readonly Command[] = [create, setUpLink]
