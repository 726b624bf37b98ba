import test from 'ava'
import { addWebhook } from '../../support/alerts.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, emailOf, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let base: string

test.before(async () => {
  app = await sharedProduct({ env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } })
})
/** Creates a project with an owner for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  base = `/projects/${team.project.uuid}/integrations`
}

test.serial("the form for a mail integration suggests the user's address", async (t) => {
  await setUp()
  t.regex((await owner.get(`${base}/new/email`)).text, new RegExp(`value="${emailOf(team, 'owner')}"`))
})

const add = (name: string) => addWebhook(app.deps, team.project.id, `https://example.org/${name}`)

/** Stores messages of an integration, the newest last. */
async function addMessages(integrationId: number, states: readonly string[]): Promise<void> {
  for (const [n, state] of states.entries())
    await app.deps.db.raw(
      `INSERT INTO notifications (id, integration_id, check_status, state, created_at, finished_at)
       VALUES (gen_random_uuid(), ?, 'down', ?, now() - ? * interval '1 minute', now() - ? * interval '1 minute')`,
      [integrationId, state, states.length - n, states.length - n],
    )
}

test.serial('a row shows the results of the last twenty messages and the last delivery', async (t) => {
  await setUp()
  const [good, bad] = [await add('good'), await add('bad')]
  await addMessages(
    good.id,
    Array.from({ length: 25 }, () => 'delivered'),
  )
  await addMessages(bad.id, ['delivered', 'failed', 'failed'])
  await app.deps
    .db('integrations')
    .where({ id: bad.id })
    .update({ last_error: 'Received status code 500', last_notify_at: new Date() })
  const { text } = await owner.get(base)
  t.true(text.includes('20 of the last 20 were sent.'))
  t.true(text.includes('1 of the last 3 were sent.'))
  t.regex(text, /Received status code 500 · last success <time[^>]*>3 min ago/)
})

test.serial('the pages of a new project show the next step', async (t) => {
  await setUp()
  const project = `/projects/${team.project.uuid}`
  const reader = await join(app, team, 'read-only')
  await addCheck(owner, team, { name: 'backup' })
  t.regex((await owner.get(`${project}/checks`)).text, /No alerts are sent yet: this project has no integrations/)
  t.false((await reader.get(`${project}/checks`)).text.includes('No alerts are sent yet'))
  t.regex((await owner.get(`${project}/policies`)).text, /Add an escalation/)
  t.regex((await owner.get(`${project}/keys`)).text, /Rotate creates a new key/)
  await add('hook')
  t.false((await owner.get(`${project}/checks`)).text.includes('No alerts are sent yet'))
})

test.serial('the row of an integration has a test and a switch', async (t) => {
  await setUp()
  const integration = await add('hook')
  const path = `/integrations/${integration.uuid}`
  const sent = await owner.post(`${path}/test`, { back: base }, base)
  t.is(sent.headers.location, base)
  t.true((await owner.get(base)).text.includes('A test message is on its way'))
  t.is((await app.deps.db('notifications').where({ integration_id: integration.id, what: 'test' })).length, 1)

  const isOff = async () =>
    (await app.deps.db('integrations').where({ id: integration.id }).first())?.disabled_at !== null
  t.regex((await owner.get(path)).text, /switch it off instead[\s\S]*>Switch off</)
  t.is((await owner.post(`${path}/disable`, { back: base }, base)).headers.location, base)
  t.true(await isOff())
  t.notRegex((await owner.get(path)).text, /witch (it )?off/)
  const { text } = await owner.get(base)
  t.regex(text, /role="switch"[^>]*aria-checked="false"[^>]*>Off</)
  t.false(text.includes(`${path}/test`), 'a disabled integration has no test button')
  t.is(
    (await owner.post(`${path}/enable`, {}, base)).headers.location,
    path,
    'a form without a return path redirects to the page of the integration',
  )
  t.false(await isOff())
  const actions = await app.deps.db('audit_log').where({ organisation_id: team.organisationId }).pluck('action')
  t.deepEqual(actions.filter((action) => action.startsWith('integration.')).toSorted(), [
    'integration.disabled',
    'integration.enabled',
    'integration.tested',
  ])
})

test.serial('a return URL of another site is ignored', async (t) => {
  await setUp()
  const { uuid } = await add('hook')
  const answer = await owner.post(`/integrations/${uuid}/disable`, { back: '//evil.example/' }, base)
  t.is(answer.headers.location, `/integrations/${uuid}`)
})

test.serial('a viewer cannot test or disable an integration', async (t) => {
  await setUp()
  const { uuid } = await add('hook')
  const viewer = await join(app, team, 'read-only', `viewer-${team.organisationId}@example.com`)
  const { text } = await viewer.get(base)
  t.false(/role="switch"|>Test</.test(text))
  for (const verb of ['test', 'disable', 'enable'])
    t.is((await viewer.post(`/integrations/${uuid}/${verb}`, {}, '/account')).status, 403, verb)
})

test.serial('forms mark a failing integration, and its page lists its checks', async (t) => {
  await setUp()
  const integration = await add('hook')
  await app.deps.db('integrations').where({ id: integration.id }).update({ last_error: 'Received status code 500' })
  const uuid = await addCheck(owner, team, { name: 'Night job', integration: integration.uuid })
  t.regex(
    (await owner.get(`/checks/${uuid}/edit`)).text,
    /webhook <small>Webhook<\/small> <span class="pill bad">failing</,
  )
  t.regex((await owner.get(`/projects/${team.project.uuid}/checks`)).text, /title="webhook \(failing\) for Night job"/)
  t.true(
    (await owner.get(`/integrations/${integration.uuid}`)).text.includes(`<a href="/checks/${uuid}">Night job</a>`),
  )
})

test.serial('deleting an integration warns about policies that use it', async (t) => {
  await setUp()
  const integration = await add('hook')
  const question = async () =>
    /data-confirm="([^"]*)"/.exec((await owner.get(`/integrations/${integration.uuid}`)).text)?.[1]
  t.is(await question(), 'Delete webhook? Nothing uses it.')
  const own = await addCheck(owner, team, { name: 'Night job', tags: 'prod', integration: (await add('other')).uuid })
  const policy = {
    ...{ name: 'On call', match: 'prod', steps: '1', 'steps[0].wait': '0' },
    ...{ 'steps[0].whom': 'chosen', 'steps[0].channels': integration.uuid },
  }
  const made = await owner.post(`/projects/${team.project.uuid}/policies/new`, policy)
  t.is(made.status, 303)
  t.regex((await owner.get(base)).text, /<td>1 policy<\/td>/)
  t.regex((await owner.get(`/integrations/${integration.uuid}`)).text, /1 policy of .*<a href="[^"]*">On call<\/a>/)
  t.regex((await question()) ?? '', /1 policy will no longer notify through it/)
  t.regex((await owner.get(`/checks/${own}`)).text, /Not notified: the alert policy uses other integrations\./)
})

test.serial('the webhook form previews the request and shows errors at fields', async (t) => {
  await setUp()
  const path = `${base}/new/webhook`
  const fields = {
    do: 'preview',
    name: 'Hook',
    'option-url_down': 'https://example.org/$SLUG?at=$NOW',
    'option-body_down': '{"check": $NAME_JSON, "tag": "$TAG2"}',
    'option-headers_down': 'X-Status: $STATUS of $NAME',
  }
  const { status, text } = await owner.post(path, fields, path)
  t.is(status, 200)
  const preview = text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  for (const line of [
    'POST https://example.org/nightly-backup?at=2026-11-21T03%3A47%3A12%2B00%3A00',
    'content-type: application/json',
    'x-status: down of Nightly backup',
    '{"check": "Nightly backup", "tag": "db"}',
    'Nothing: there is no address.',
  ])
    t.true(preview.includes(line), line)
  t.true(preview.includes('$NAME_JSON'), 'the form keeps its values')
  t.deepEqual(await app.deps.db('integrations').where({ project_id: team.project.id }), [])
  const wrong = await owner.post(path, { ...fields, 'option-url_down': 'ftp://nowhere' }, path)
  t.regex(wrong.text, /id="option-url_down-error">Must be a URL that starts with/)

  const integration = await add('stored')
  const edited = await owner.post(`/integrations/${integration.uuid}/edit`, fields, path)
  t.is(edited.status, 200)
  t.true(edited.text.includes('nightly-backup'))
  t.is(
    (await app.deps.db('integrations').where({ id: integration.id }).first())?.name,
    'webhook',
    'a preview saves nothing',
  )
})

test.serial('a private address is refused with the setting that allows it', async (t) => {
  await setUp()
  const path = `${base}/new/webhook`
  const { text } = await owner.post(path, { 'option-url_down': 'http://10.0.0.1/hook' }, path)
  t.regex(text, /ALLOW_PRIVATE_TARGETS/)
  const slack = await owner.post(`${base}/new/slack`, { 'option-url': 'http://10.0.0.1/hook' })
  t.regex(slack.text, /Incoming webhook URL: leads to a private address\. The operator/)
})

test.serial('“Save and send test” stores the integration and sends one test through it', async (t) => {
  await setUp()
  const path = `${base}/new/webhook`
  const fields = { name: 'Hook', 'option-url_down': 'https://example.org/hook', do: 'save-and-test' }
  const saved = await owner.post(path, fields, path)
  const page = saved.headers.location ?? ''
  t.regex(page, /^\/integrations\/[0-9a-f-]{36}$/)
  t.true((await owner.get(page)).text.includes('The integration is saved. A test message is on its way'))
  const tests = async () =>
    await app.deps
      .db('notifications as n')
      .join('integrations as i', 'i.id', 'n.integration_id')
      .where({ 'i.project_id': team.project.id, 'n.what': 'test' })
  t.is((await tests()).length, 1)
  const changed = await owner.post(`${page}/edit`, { ...fields, name: 'Renamed' }, `${page}/edit`)
  t.is(changed.headers.location, page)
  t.is((await tests()).length, 2)
})

test.serial('an imported integration without settings is listed with a link to enter them', async (t) => {
  await setUp()
  const { id, uuid } = await add('imported')
  const sealed_config = app.deps.secrets.seal('integration', '{}')
  await app.deps.db('integrations').where({ id }).update({ sealed_config, disabled_at: new Date() })
  const { text } = await owner.get(base)
  t.regex(text, /<span class="pill bad">needs settings</)
  t.true(text.includes(`href="/integrations/${uuid}/edit"`))
  t.notRegex(text, /switched off|role="switch"/)
})

test.serial(
  'an integration of the form for a check is named by its address, or by its type and a number',
  async (t) => {
    await setUp()
    const project = `/projects/${team.project.uuid}`
    const fields = { timeout: '1', timeout_unit: 'days', grace: '1', grace_unit: 'hours' }
    const hook = 'https://hooks.slack.example/services/'
    for (const [kind, value] of [
      ['email', 'ops@example.org'],
      ['slack', `${hook}1`],
      ['slack', `${hook}2`],
    ] as const) {
      const check = { ...fields, name: value.slice(-5), new_kind: kind, new_value: value }
      t.is((await owner.post(`${project}/checks`, check, `${project}/checks/new`)).status, 303)
    }
    const names = await app.deps.db('integrations').where({ project_id: team.project.id }).orderBy('id').pluck('name')
    t.deepEqual(names, ['ops@example.org', 'Slack', 'Slack 2'])
  },
)
