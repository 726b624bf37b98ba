import test from 'ava'
import { FAMILIES } from '#shared/tenancy/oauth/families.ts'
import { clientCommands } from '../../../ingress/admin/client.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join } from './people.ts'

let app: HttpProduct

test.before(async () => {
  app = await sharedProduct({})
})

async function operate(args: string[]): Promise<void> {
  const { config, db, secrets, log } = app.deps
  const context = async () => ({ config, db, secrets, log, actor: 'test', async [Symbol.asyncDispose]() {} })
  const outcome = await runAdmin(args, clientCommands, context)
  if (outcome.status !== 0) throw new Error(outcome.stderr)
}

test('an owner cannot undo a decision of the operator', async (t) => {
  const team = await createTeam(app, 'Revoked')
  const owner = await join(app, team, 'owner')
  const page = `/organisations/${team.organisationUuid}/risk/production/clients`
  const families = `/organisations/${team.organisationUuid}/risk/production/families`
  const granted = () => app.db('organisation_families').where({ organisation_id: team.organisationId }).pluck('family')
  const post = async (path: string) => (await owner.post(path, { _confirmed: 'yes' }, page)).status

  t.is(await post(`${families}/kyb/grant`), 303, 'the owner may grant a family that the operator did not revoke')
  await owner.post(page, { name: 'Loans' }, page)
  const [{ client_id: client }] = await app.db('clients').where({ organisation_id: team.organisationId })
  await operate(['entitlement', 'revoke', '--organisation', team.organisationUuid, '--families', 'all'])
  await operate(['client', 'disable', '--client', client])
  for (const family of FAMILIES) t.is(await post(`${families}/${family}/grant`), 403, family)
  for (const action of ['disable', 'rotate']) t.is(await post(`${page}/${client}/${action}`), 303, action)
  t.is(await post(`${page}/${client}/enable`), 403)
  t.deepEqual(await granted(), [])
  t.truthy((await app.db('clients').where({ client_id: client }).first()).disabled_at)
  const { text } = await owner.get(page)
  t.regex(text, /revoked by the operator/)
  t.regex(text, /Disabled by the operator/)

  await operate(['entitlement', 'grant', '--organisation', team.organisationUuid, '--families', 'kyb'])
  await operate(['client', 'enable', '--client', client])
  t.deepEqual(await granted(), ['kyb'])
  t.is(await post(`${families}/kyb/revoke`), 303)
  t.is(await post(`${families}/kyb/grant`), 303, 'the owner may grant a family that the operator restored')
  t.is(await post(`${page}/${client}/enable`), 303)
})

test('the audit log shows changes of a client by the operator', async (t) => {
  const team = await createTeam(app, 'Audited')
  const owner = await join(app, team, 'owner')
  const page = `/organisations/${team.organisationUuid}/risk/production/clients`
  await owner.post(page, { name: 'Loans' }, page)
  const ofTeam = { organisation_id: team.organisationId }
  const [{ client_id: client }] = await app.db('clients').where(ofTeam)
  for (const verb of ['disable', 'enable', 'rotate-secret']) await operate(['client', verb, '--client', client])
  const entries = await app
    .db('audit_log')
    .where({ ...ofTeam, target: client })
    .orderBy('id')
    .select('actor', 'action')
  t.deepEqual(
    entries.map(({ actor, action }) => `${actor} ${action}`),
    ['client.disabled', 'client.enabled', 'client.secret-rotated'].map((action) => `operator test ${action}`),
  )
  await t.throwsAsync(operate(['client', 'disable', '--client', 'missing']), { message: /there is no client missing/ })
})
