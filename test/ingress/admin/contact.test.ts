import test from 'ava'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { ensureOrganisation } from '#shared/tenancy/organisations/store.ts'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { sharedProduct } from '../../support/shared-product.ts'

test('an operator adds, lists, verifies and deletes contact methods, with shortened addresses and an audit', async (t) => {
  const { deps } = await sharedProduct()
  const { config, db, secrets, log } = deps
  const admin = (...args: string[]) =>
    runAdmin(args, commands, async () => ({
      ...{ config, db, secrets, log, actor: 'tester' },
      [Symbol.asyncDispose]: async () => {},
    }))
  const email = 'on-call-person@example.com'
  const organisation = await db.transaction(async (tx) => {
    const user = await insertUser(tx, { email, name: '', passwordHash: 'x' })
    const made = await ensureOrganisation(tx, 'Contact commands')
    await insertMembership(tx, { organisationId: made.id, userId: user?.id ?? 0, role: 'owner' })
    return made
  })
  const who = ['--email', email]
  const add = (...more: string[]) =>
    admin('contact', 'add', ...who, '--kind', 'sms', '--config', '{"value": "+15551230100"}', '--json', ...more)
  const { methodId } = JSON.parse((await add()).stdout)
  const list = async () => (await admin('contact', 'list', ...who)).stdout
  t.regex(await list(), new RegExp(`${methodId}  sms +\\+1555\\*\\*\\*0100  \\(not verified\\)`))
  t.regex(await list(), /email +o\*\*\*@example\.com/, 'the address of the account is one from the start')
  t.notRegex(await list(), /5551230100/)
  const method = [...who, '--method', methodId]
  t.is((await admin('contact', 'verify', ...method, '--code', '123456')).status, 1)
  t.is((await admin('contact', 'verify', ...method)).status, 0)
  const queued = await db('outbox')
    .where({ message: 'contact.message_due' })
    .whereRaw("payload->>'methodId' = ?", [methodId])
  t.is(queued.length, 1, 'the sweeper publishes the code')
  t.is((await admin('contact', 'verify', ...method, '--verified')).status, 0)
  t.notRegex(await list(), /not verified/)
  t.is((await admin('contact', 'delete', ...method)).status, 0)
  t.notRegex(await list(), /sms/)
  t.is((await add('--kind', 'webhook')).status, 1)
  const audited = await db('audit_log').where({ organisation_id: organisation.id }).orderBy('id')
  t.deepEqual(
    audited.map(({ actor, action, target }) => `${actor} ${action} ${target}`),
    ['created', 'code-sent', 'verified', 'deleted'].map((what) => `operator tester contact.${what} sms`),
  )
})
