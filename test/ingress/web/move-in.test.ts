import { randomUUID } from 'node:crypto'
import test from 'ava'
import { insertProject } from '#shared/monitoring/projects/store.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import type { HttpProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join, type Team } from './people.ts'
import { fieldsOf, type Visitor } from './visitor.ts'

let app: HttpProduct
let source: HttpSink
let team: Team
let owner: Visitor
let base: string

test.before(async () => {
  app = await sharedProduct()
  source = await openHttpSink()
  team = await createTeam(app, 'Movers')
  owner = await join(app, team, 'owner')
  base = `/projects/${team.project.uuid}/move-in`
})
test.after.always(async () => await source?.[Symbol.asyncDispose]())

const check = (name: string) => ({
  uuid: randomUUID(),
  name,
  slug: '',
  tags: '',
  timeout: 3600,
  grace: 60,
  status: 'up',
})
const checks = [check('Nightly <backup>'), check('Report')]
const API_KEY = 'k'.repeat(32)

test.serial('checks are imported after the plan is confirmed', async (t) => {
  const integration = { id: randomUUID(), name: 'Ops', kind: 'slack' }
  source.respond = ({ path }) => ({
    body: JSON.stringify(path.endsWith('/checks/') ? { checks } : { channels: [integration], badges: {} }),
  })
  t.true((await owner.get(`/projects/${team.project.uuid}/settings`)).text.includes(`href="${base}"`))
  const read = await owner.post(`${base}/healthchecks`, { url: source.url, api_key: API_KEY }, base)
  t.is(read.status, 303)
  const address = read.headers.location ?? ''
  const plan = await owner.get(address)
  t.regex(plan.text, /2 new, 0 changed, 0 the same/)
  t.true(plan.text.includes('Nightly &lt;backup>') || plan.text.includes('Nightly &lt;backup&gt;'))
  t.true(plan.text.includes('Report: every 1 hour + 1 minute'))
  t.regex(plan.text, /Ops \(slack\)/)
  t.false(plan.text.includes(API_KEY))
  const [row] = await app.db('import_plans').where({ project_id: team.project.id })
  t.false(String(row?.sealed_plan).includes('Report'))

  await app.db('checks').insert({ project_id: team.project.id, uuid: checks[1]?.uuid, name: 'Mine' })
  const fields = { ...fieldsOf(plan.text), ping_key: `page-key-${randomUUID().slice(0, 8)}` }
  const stale = await owner.send(address, fields)
  t.is(stale.status, 409)
  t.regex(stale.text, /the project has changed/)
  t.regex(stale.text, /1 new, 0 changed, 0 the same, 1 in conflict/)
  const refused = await owner.send(address, { ...fieldsOf(stale.text), ping_key: fields.ping_key })
  t.is(refused.status, 409)
  t.regex(refused.text, /there are conflicts/)

  const overwrite = `${address}?overwrite=1`
  const confirmed = await owner.send(overwrite, {
    ...fieldsOf((await owner.get(overwrite)).text),
    ping_key: fields.ping_key,
  })
  t.is(confirmed.status, 303)
  t.is(confirmed.headers.location, base)
  const arrived = (await owner.get(base)).text
  t.regex(arrived, /1 checks created, 1 changed/)
  t.regex(arrived, /2 checks wait for a first ping/)
  t.regex(arrived, /Integrations that need settings/)
  t.true(arrived.includes(`/ping/${checks[0]?.uuid}`))
  t.true(arrived.indexOf('Start watching') < arrived.indexOf('From Healthchecks'))
  t.is((await send(app.url, `/ping/${checks[0]?.uuid}`)).status, 200)
  t.is((await owner.get(address)).status, 404, 'a plan is applied once')

  t.is((await owner.post(`${base}/start`, {}, base)).status, 303)
  t.regex((await owner.get(base)).text, /Watching \d checks?\./)
  const page = (await owner.get(`/integrations/${integration.id}`)).text
  t.regex(page, /Needs settings/)
})

test.serial('a conflict names the other project to members of its organisation only', async (t) => {
  const taken = check('Taken')
  source.respond = ({ path }) => ({
    body: JSON.stringify(path.endsWith('/checks/') ? { checks: [taken] } : { channels: [], badges: {} }),
  })
  const other = await insertProject(app.db, { organisationId: team.organisationId, name: 'Other project' })
  await app.db('checks').insert({ project_id: other.id, uuid: taken.uuid, name: 'Taken' })
  const planOf = async (visitor: Visitor, address: string) => {
    const read = await visitor.post(`${address}/healthchecks`, { url: source.url, api_key: API_KEY }, address)
    return (await visitor.get(read.headers.location ?? '')).text
  }
  const plan = await planOf(owner, base)
  t.regex(plan, /the uuid belongs to a check of the project Other project/)
  t.notRegex(plan, /Plan again, and take the source/)
  const team2 = await createTeam(app, 'Outsiders')
  const outside = await planOf(await join(app, team2, 'owner'), `/projects/${team2.project.uuid}/move-in`)
  t.regex(outside, /the uuid belongs to a check of another project or to a deleted check/)
  t.notRegex(outside, /Other project/)
})

test.serial('the form shows the reason if the source cannot be read', async (t) => {
  source.respond = () => ({ status: 401 })
  const refused = await owner.post(`${base}/healthchecks`, { url: source.url, api_key: API_KEY }, base)
  t.is(refused.status, 400)
  t.regex(refused.text, /Nothing is imported: the other service refuses the API key: is it the read-write key\?/)
  t.true(refused.text.includes(`value="${source.url}"`))
  t.false(refused.text.includes(API_KEY))
})

test.serial('a pasted Cronitor export becomes a plan', async (t) => {
  const document = 'heartbeats:\n  queue: {schedule: every 5 minutes}\nsites:\n  shop: {}\n'
  const read = await owner.post(`${base}/file`, { source: 'cronitor', document }, base)
  const plan = await owner.get(read.headers.location ?? '')
  t.regex(plan.text, /1 new, 0 changed/)
  t.regex(plan.text, /sites shop: this service does not send requests/)
  const refused = await owner.post(`${base}/file`, { source: 'cronitor', document: 'jobs: {}' }, base)
  t.is(refused.status, 400)
  const kuma = await owner.post(`${base}/file`, { source: 'uptime-kuma', document: '{}' }, base)
  t.regex(kuma.text, /Nothing is imported: the file is not a backup of Uptime Kuma\./)
  t.regex(refused.text, /Nothing is imported: the file has no jobs, heartbeats, checks or sites\./)
})

test.serial('the form of an imported integration has the settings of the source', async (t) => {
  const uuid = randomUUID()
  await app.db('integrations').insert({
    ...{ project_id: team.project.id, uuid, kind: 'telegram', name: 'Ops', disabled_at: new Date() },
    sealed_config: app.deps.secrets.seal('integration', JSON.stringify({ id: -100_123 })),
  })
  t.regex((await owner.get(`/integrations/${uuid}`)).text, /Needs settings/)
  const form = await owner.get(`/integrations/${uuid}/edit`)
  const fields = fieldsOf(form.text)
  t.is(fields['option-id'], '-100123')
  t.is((await owner.send(`/integrations/${uuid}/edit`, { ...fields, 'option-token': '123:abc' })).status, 303)
  const row = await app.db('integrations').where({ uuid }).first()
  t.is(row.disabled_at, null)
  t.like(JSON.parse(app.deps.secrets.open('integration', row.sealed_config)), { id: '-100123', token: '123:abc' })
})

test.serial('only members who manage a project may import checks', async (t) => {
  const member = await join(app, team, 'read-only')
  t.is((await member.get(base)).status, 403)
  const stranger = await join(app, await createTeam(app, 'Strangers'), 'owner')
  t.is((await stranger.get(base)).status, 404)
  t.is((await owner.get(`${base}/${randomUUID()}`)).status, 404)
  t.is((await owner.get(`${base}/none`)).status, 404)
})
