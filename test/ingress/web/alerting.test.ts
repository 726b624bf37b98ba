import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let base: string

test.before(async () => {
  app = await openProduct({ listener: 'http', workers: ['ping-evaluator', 'notifier', 'sweeper'] })
})
test.beforeEach(async (t) => {
  team = await createTeam(app, t.title)
  owner = await join(app, team, 'owner', `${team.organisationId}@example.com`)
  base = `/projects/${team.project.uuid}`
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

const PLAN = JSON.stringify({ steps: [{ repeat: { every: 3600 } }, { wait: 900, severity: 'critical' }] })
const form = { name: 'On call', match: 'prod', position: '1', plan: PLAN }

test.serial('a policy is made in the browser, shown in words with its checks, changed and deleted', async (t) => {
  await addCheck(owner, team, { name: 'db-backup', tags: 'prod' })
  t.is((await owner.post(`${base}/policies/new`, form)).status, 303)
  const list = (await owner.get(`${base}/policies`)).text
  const words =
    'at once: the check&#39;s own integrations, again every 1 h; after 15 min: the check&#39;s own integrations, if critical'
  t.true(list.includes(words) || list.includes(words.replaceAll('&#39;', "'")), list)
  t.regex(list, /For checks with the tags prod: 1 checks/)
  const path = /\/projects\/[0-9a-f-]{36}\/policies\/[0-9a-f-]{36}/.exec(list)?.[0] ?? ''
  t.regex((await owner.get(path)).text, /value="On call"/)
  const wrong = await owner.post(path, { ...form, plan: '{"steps": []}' })
  t.is(wrong.status, 400)
  t.regex(wrong.text, /steps has unexpected value/)
  t.regex((await owner.post(path, { ...form, plan: 'no JSON' })).text, /The plan is not JSON/)
  t.is((await owner.post(path, { ...form, name: 'Night' })).status, 303)
  t.regex((await owner.get(`${base}/policies`)).text, /Night/)
  t.is((await owner.post(`${path}/delete`, {}, `${base}/policies`)).status, 303)
  t.notRegex((await owner.get(`${base}/policies`)).text, /Night/)
})

test.serial('an incident: listed, acknowledged, noted, reported; the check says who is told and why', async (t) => {
  const check = await addCheck(owner, team, { name: 'db-backup', tags: 'prod' })
  await owner.post(`${base}/policies/new`, form)
  await fetch(`${app.url}/ping/${check}/fail`)
  const list = await eventually('the incident', async () => {
    const { text } = await owner.get(`${base}/incidents`)
    return text.includes('/incidents/') && text.includes('db-backup') && text
  })
  const path = /\/incidents\/[0-9a-f-]{36}/.exec(list)?.[0] ?? ''
  t.is((await owner.post(`${path}/ack`, { note: 'on <it>' }, path)).status, 303)
  await owner.post(`${path}/note`, { text: 'disk full' }, path)
  await owner.post(`${path}/report`, { text: 'It was the disk.' }, path)
  const { text } = await owner.get(path)
  t.regex(text, /acknowledged by \d+@example\.com/)
  t.regex(text, /acknowledged it: on &lt;it>/)
  t.regex(text, /noted: disk full/)
  t.regex(text, /It was the disk\./)
  t.is((await owner.post(`${path}/unack`, {}, path)).status, 303)
  t.notRegex((await owner.get(path)).text, /, acknowledged by/)
  const page = (await owner.get(`/checks/${check}`)).text
  t.regex(page, /On call \(tag prod\): at once/)
  t.regex(page, /Why\?/)
})

test.serial('a viewer sees incidents and policies and changes none; a stranger sees neither', async (t) => {
  const check = await addCheck(owner, team, { name: 'db-backup', tags: 'prod' })
  await owner.post(`${base}/policies/new`, form)
  await fetch(`${app.url}/ping/${check}/fail`)
  const incident = await eventually('the incident', async () => {
    const row = await app.deps.db('incidents').where({ project_id: team.project.id }).first('id')
    return row !== undefined && String(row.id)
  })
  const policy = await app.deps.db('policies').where({ project_id: team.project.id }).first('uuid')
  const path = `/incidents/${incident}`
  const viewer = await join(app, team, 'read-only', `viewer${team.organisationId}@example.com`)
  const stranger = await join(app, await createTeam(app, 'elsewhere'), 'owner', 'elsewhere@example.com')
  for (const page of [`${base}/incidents`, `${base}/policies`, path]) {
    const shown = await viewer.get(page)
    t.is(shown.status, 200)
    t.false(shown.text.includes(check), 'an address that takes pings is shown to nobody who may only look')
    t.is((await stranger.get(page)).status, 404)
  }
  const changes = [
    `${path}/ack`,
    `${path}/note`,
    `${path}/report`,
    `${base}/policies/new`,
    `${base}/policies/${policy?.uuid}`,
  ]
  for (const change of changes) {
    t.is((await viewer.post(change, form, '/account')).status, 403, change)
    t.is((await stranger.post(change, form, '/account')).status, 404, change)
  }
  t.is((await app.deps.db('incidents').where({ id: incident }).first('state'))?.state, 'alerting')
})
