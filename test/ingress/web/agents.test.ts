import test from 'ava'
import { FAMILIES } from '#shared/tenancy/oauth/families.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { tools } from '../../../ingress/mcp/tools.ts'
import { openProduct } from '../../support/product.ts'
import { callTool, connect } from '../mcp/agents.ts'
import { createTeam, join } from './people.ts'

test('a key is created on the page, shown once, listed and revoked', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  await grantFamilies(app.deps.db, team.organisationId, ['agents', 'risk-signals'])
  const owner = await join(app, team, 'owner')
  const reader = await join(app, team, 'read-only')
  const path = `/organisations/${team.organisationUuid}/risk/sandbox/agents`
  const form = await owner.get(path)
  t.true(form.text.includes('risk-signals:run'))
  t.false(form.text.includes('agents:manage'), 'a key cannot create keys')
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
  const errorOf = (text: string, field: string) => new RegExp(`id="${field}-error"[^>]*>([^<]+)<`).exec(text)?.[1]
  t.is(errorOf(wrong.text, 'name'), 'Must be a line of 1 to 200 characters.')
  t.is(errorOf(wrong.text, 'dailyLimit'), 'Must be a whole number from 0 to 1,000,000,000.')
  t.regex(wrong.text, /<details open[^>]*class="more"|<details class="more" open/, 'the part with the error is open')
  for (const [name, value] of [
    ['risk-signals.perDay', '-1'],
    ['risk-signals.perMonth', '1.5'],
    ['days', '0'],
    ['days', '1096'],
    ['days', '9e99'],
  ] as const) {
    const refused = await owner.post(path, { name: 'kept <name>', scope: 'risk-signals:run', [name]: value })
    t.is(refused.status, 400, value)
    t.regex(errorOf(refused.text, name) ?? '', /^Must be a whole number/, `${name} ${value}`)
    t.true(refused.text.includes('value="kept &lt;name>"'), 'the form keeps the typed name')
    t.regex(refused.text, /value="risk-signals:run" checked/)
  }
  const projectless = await owner.post(path, { name: 'x', monitoring: 'monitoring:read' })
  t.true(projectless.text.includes('>Select at least one project for the chosen scopes.<'))
  const { uuid } = team.project
  t.is((await owner.post(path, { name: 'watch', monitoring: 'monitoring:read', project: uuid })).status, 303)
  t.regex((await owner.get(path)).text, /Acme project/)
  t.is((await owner.post(path, { name: 'no checks', project: uuid })).status, 303)
  const { rows } = await app.deps.db.raw(
    `SELECT k.name, k.scopes FROM agent_key_projects p JOIN agent_keys k ON k.id = p.agent_key_id`,
  )
  t.deepEqual(rows, [{ name: 'watch', scopes: ['agents:invoke', 'monitoring:read'] }], 'only where they have an effect')

  const keyId = key.split('_')[2]
  t.false((await reader.get(path)).text.includes('Create key'))
  t.is((await reader.post(path, { name: 'mine' })).status, 403)
  t.is((await reader.post(`${path}/${keyId}/revoke`, {}, path)).status, 403)
  t.is((await owner.post(`${path}/AAAAAAAAAAAAAAAA/revoke`, {}, path)).status, 404)
  t.is((await owner.post(`${path}/${keyId}/revoke`, {}, path)).status, 303)
  t.true((await owner.get(path)).text.includes('revoked'))
})

test('the form offers the scopes of all tools, and selects those that read without costs', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  await grantFamilies(app.deps.db, team.organisationId, [...FAMILIES])
  const owner = await join(app, team, 'owner')
  const { text } = await owner.get(`/organisations/${team.organisationUuid}/risk/production/agents`)
  const offered = (name: string) =>
    [...text.matchAll(new RegExp(`name="${name}" value="([^"]+)"( checked)?`, 'g'))].map(([, value]) => value)
  const needed = new Set(tools.map(({ scope }) => scope).filter((scope) => scope !== 'agents:invoke'))
  t.deepEqual([...offered('scope'), ...offered('monitoring')].toSorted(), [...needed].toSorted())
  t.deepEqual(
    [...text.matchAll(/value="([a-z-]+:[a-z]+)" checked/g)].map(([, scope]) => scope),
    ['risk-signals:read', 'acceptance:read', 'trade:read', 'usage:read'],
  )
  t.regex(text, /name="days" value="365"/)
})

test('a key created on the page has the chosen budgets and expiry', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  await grantFamilies(app.deps.db, team.organisationId, ['agents', 'risk-signals'])
  const owner = await join(app, team, 'owner')
  const path = `/organisations/${team.organisationUuid}/risk/sandbox/agents`
  const form = await owner.get(path)
  t.true(form.text.includes('Units of Risk signals packs'))
  t.false(form.text.includes('Units of Business verification'), 'the organisation is not entitled to it')
  const limits = { 'risk-signals.perDay': '20', 'risk-signals.perMonth': '0', dailyLimit: '7', days: '30' }
  t.is((await owner.post(path, { name: 'desk', scope: 'risk-signals:run', ...limits })).status, 303)
  const row = await app.deps.db('agent_keys').where({ name: 'desk' }).first()
  t.deepEqual(row.budgets, { 'risk-signals': { perDay: 20, perMonth: 0 } })
  t.is(row.daily_limit, 7)
  t.is(Math.round((row.expires_at - row.created_at) / 86_400_000), 30)
  const { text } = await owner.get(path)
  for (const part of ['Risk signals packs: 20 per day, 0 per month', 'at most 7', 'never used']) {
    t.true(text.includes(part), part)
  }
})

test('organisations without agent tools cannot create keys or see their pages', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  const owner = await join(app, team, 'owner')
  const path = `/organisations/${team.organisationUuid}/risk/sandbox/agents`
  const { text } = await owner.get(path)
  t.false(text.includes('Create key'))
  t.regex(text, /href="[^"]+\/clients#families">Grant agent tools</)
  t.is((await owner.post(path, { name: 'x' })).status, 404)
  const stranger = await join(app, await createTeam(app, 'Other'), 'owner')
  t.is((await stranger.get(path)).status, 404)
})
