import test from 'ava'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { openProduct } from '../../support/product.ts'
import { callTool, connect } from '../mcp/agents.ts'
import { createTeam, join } from './people.ts'

test('a key is made on the page, shown once, used, listed with its calls, and revoked', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  await grantFamilies(app.deps.db, team.organisationId, ['agents', 'risk-signals'])
  const owner = await join(app, team, 'owner')
  const reader = await join(app, team, 'read-only')
  const path = `/organisations/${team.organisationUuid}/risk/sandbox/agents`
  const form = await owner.get(path)
  t.true(form.text.includes('risk-signals:run'))
  t.false(form.text.includes('agents:manage'), 'a key makes no keys')
  t.is((await owner.post(path, { name: 'night <desk>', scope: 'risk-signals:read' })).status, 303)
  const made = await owner.get(path)
  const key = /rsk_sandbox_[A-Z2-7]{16}_[\w-]{43}/.exec(made.text)?.[0] ?? ''
  t.not(key, '')
  const agent = await connect(app.url, key)
  await callTool(agent, 'gstin_validate', { gstin: 'x' })
  const listed = await owner.get(path)
  t.false(listed.text.includes(key))
  for (const part of ['night &lt;desk>', 'agents:invoke, risk-signals:read', 'gstin_validate', 'succeeded']) {
    t.true(listed.text.includes(part), part)
  }

  const wrong = await owner.post(path, { name: '', dailyLimit: '-1' })
  t.is(wrong.status, 400)
  t.true(wrong.text.includes('name must be a line'))
  t.true(wrong.text.includes('dailyLimit must be a whole number'))
  for (const [name, value] of [
    ['risk-signals.perDay', '-1'],
    ['risk-signals.perMonth', '1.5'],
    ['days', '0'],
    ['days', '1096'],
    ['days', '9e99'],
  ] as const) {
    const refused = await owner.post(path, { name: 'kept <name>', scope: 'risk-signals:run', [name]: value })
    t.is(refused.status, 400, value)
    t.true(refused.text.includes(`${name} must be a whole number`), `${name} ${value}`)
    t.true(refused.text.includes('value="kept &lt;name>"'), 'what was typed stays')
    t.regex(refused.text, /value="risk-signals:run" checked/)
  }
  const projectless = await owner.post(path, { name: 'x', scope: 'monitoring:read' })
  t.true(projectless.text.includes('projects is required with a monitoring scope'))

  const keyId = key.split('_')[2]
  t.false((await reader.get(path)).text.includes('Create key'))
  t.is((await reader.post(path, { name: 'mine' })).status, 403)
  t.is((await reader.post(`${path}/${keyId}/revoke`, {}, path)).status, 403)
  t.is((await owner.post(`${path}/AAAAAAAAAAAAAAAA/revoke`, {}, path)).status, 404)
  t.is((await owner.post(`${path}/${keyId}/revoke`, {}, path)).status, 303)
  t.true((await owner.get(path)).text.includes('revoked'))
})

test('a key made on the page has the budgets and the end that were chosen there, and the page shows them', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  await grantFamilies(app.deps.db, team.organisationId, ['agents', 'risk-signals'])
  const owner = await join(app, team, 'owner')
  const path = `/organisations/${team.organisationUuid}/risk/sandbox/agents`
  const form = await owner.get(path)
  t.true(form.text.includes('Budget of Risk signals packs'))
  t.false(form.text.includes('Budget of Business verification'), 'the organisation is not entitled to it')
  const limits = { 'risk-signals.perDay': '20', 'risk-signals.perMonth': '0', dailyLimit: '7', days: '30' }
  t.is((await owner.post(path, { name: 'desk', scope: 'risk-signals:run', ...limits })).status, 303)
  const row = await app.deps.db('agent_keys').where({ name: 'desk' }).first()
  t.deepEqual(row.budgets, { 'risk-signals': { perDay: 20, perMonth: 0 } })
  t.is(row.daily_limit, 7)
  t.is(Math.round((row.expires_at - row.created_at) / 86_400_000), 30)
  const { text } = await owner.get(path)
  for (const part of ['risk-signals: 20 per day, 0 per month', 'at most 7', 'Last used', 'never']) {
    t.true(text.includes(part), part)
  }
})

test('organisations without agent tools cannot create keys or see their pages', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  const owner = await join(app, team, 'owner')
  const path = `/organisations/${team.organisationUuid}/risk/sandbox/agents`
  t.false((await owner.get(path)).text.includes('Create key'))
  t.is((await owner.post(path, { name: 'x' })).status, 404)
  const stranger = await join(app, await createTeam(app, 'Other'), 'owner')
  t.is((await stranger.get(path)).status, 404)
})
