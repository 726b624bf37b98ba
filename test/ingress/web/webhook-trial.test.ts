import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { integrationTried } from '#shared/contracts/worker-messages.ts'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { stopRefill } from '../../support/stop-refill.ts'
import { createTeam, join, type Team } from './people.ts'
import { fieldsOf, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let sink: HttpSink
let form: string

test.before(async () => {
  app = await openProduct({
    listener: 'http',
    workers: ['notifier'],
    env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' },
    // A trial expires after four seconds, which a busy machine may need to deliver it to the worker.
    override: { now: () => nowMicros() + microsOfSeconds(15) },
  })
})
/** Creates a project with an owner and a sink for each test. */
async function setUp(t: ExecutionContext): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  sink = await openHttpSink()
  t.teardown(() => sink[Symbol.asyncDispose]())
  form = `/projects/${team.project.uuid}/integrations/new/webhook`
}
test.after.always(() => app?.[Symbol.asyncDispose]())

const webhookTo = (url: string) => ({
  name: 'Loan desk',
  'option-url_down': `${url}/down?s=$STATUS`,
  'option-method_down': 'POST',
  'option-body_down': '{"name": "$NAME"}',
  'option-headers_down': 'X-Key: very-secret',
  'option-url_up': `${url}/up`,
})

/** Returns the test result on the page. */
const resultOf = (text: string) =>
  /<section class="card" id="trial".*?<\/h2><p class="(notice|problem)">(.*?)<\/p>/s.exec(text)?.slice(1)
const storedIntegrations = () => app.deps.db('integrations').where({ project_id: team.project.id })

test.serial('a form can be tested for up and down without being stored', async (t) => {
  await setUp(t)
  const down = await owner.post(form, { ...webhookTo(sink.url), do: 'test-down' })
  t.is(down.status, 200)
  const [kind, text = ''] = resultOf(down.text) ?? []
  t.is(kind, 'notice')
  t.regex(text, /^Sent: the receiver answered 200 after \d+ ms\.$/)
  sink.enqueue({ status: 503 })
  const up = await owner.post(form, { ...webhookTo(sink.url), do: 'test-up' })
  t.regex(resultOf(up.text)?.join(' ') ?? '', /^problem Not delivered, after \d+ ms: Received status code 503\.$/)
  t.deepEqual(
    sink.requests.map(({ method, url, headers, body }) => [method, url, headers['x-key'], body.toString()]),
    [
      ['POST', '/down?s=down', 'very-secret', '{"name": "Test from Signalbox"}'],
      ['GET', '/up', undefined, ''],
    ],
  )
  const fields = fieldsOf(up.text)
  t.is(fields.name, 'Loan desk', 'the form keeps its values')
  t.is(fields.all, undefined, 'the form keeps the unchecked box')
  t.is(fields['option-url_up'], `${sink.url}/up`)
  t.deepEqual(await storedIntegrations(), [])
  t.is((await app.deps.db('notifications')).length, 0)
  const noted = await app.deps
    .db('audit_log')
    .where({ organisation_id: team.organisationId })
    .select('action', 'target')
  t.deepEqual(
    noted.filter(({ action }) => action.startsWith('integration.')),
    [
      { action: 'integration.tested', target: 'Loan desk (not saved)' },
      { action: 'integration.tested', target: 'Loan desk (not saved)' },
    ],
  )
})

test.serial('a missing URL sends nothing, an invalid or private one is refused', async (t) => {
  await setUp(t)
  const only = { 'option-url_down': sink.url, do: 'test-up' }
  t.deepEqual(resultOf((await owner.post(form, only)).text), [
    'problem',
    'Nothing is sent then: there is no address for it.',
  ])
  for (const [url, message] of [
    ['nonsense', /class="field-error"/],
    ['http://10.1.2.3/hook', /leads to a private address/],
  ] as const) {
    const { status, text } = await owner.post(form, { 'option-url_down': url, do: 'test-down' })
    t.is(status, 400)
    t.regex(text, message)
    t.is(resultOf(text), undefined)
  }
  await using away = await openHttpSink()
  away.respond = () => ({ status: 302, headers: { location: 'http://10.1.2.3/' } })
  const redirected = await owner.post(form, { 'option-url_down': away.url, do: 'test-down' })
  t.regex(
    resultOf(redirected.text)?.join(' ') ?? '',
    /^problem Not delivered.*private/,
    'the worker applies the target policy as well',
  )
  t.deepEqual(sink.requests, [])
})

test.serial('a stored secret header is sent only to its stored URL', async (t) => {
  await setUp(t)
  const made = await owner.post(form, webhookTo(sink.url))
  const path = (made.headers.location ?? '').replace(/\?.*/, '')
  const { 'option-headers_down': _, ...shown } = webhookTo(sink.url)
  const edit = `${path}/edit`
  const tried = await owner.post(edit, { ...shown, 'option-body_down': 'changed', do: 'test-down' })
  t.is(resultOf(tried.text)?.[0], 'notice')
  t.is(sink.requests[0]?.headers['x-key'], 'very-secret')
  t.is(sink.requests[0]?.body.toString(), 'changed')
  const [stored] = await storedIntegrations()
  t.is(JSON.parse(app.deps.secrets.open('integration', stored?.sealed_config)).body_down, '{"name": "$NAME"}')
  await using thief = await openHttpSink()
  const { status } = await owner.post(edit, { ...shown, 'option-url_down': thief.url, do: 'test-down' })
  t.is(status, 400)
  t.deepEqual(thief.requests, [])
})

test.serial('viewers and cross-site forms cannot send a test', async (t) => {
  await setUp(t)
  const viewer = await join(app, team, 'read-only', `viewer-${team.organisationId}@example.com`)
  const fields = { ...webhookTo(sink.url), do: 'test-down' }
  t.is((await viewer.post(form, fields, '/account')).status, 403)
  t.is((await owner.send(form, fields)).status, 403)
  t.deepEqual(sink.requests, [])
})

test.serial('a project may send six tests a minute, and the form is kept', async (t) => {
  await setUp(t)
  const fields = { ...webhookTo(sink.url), do: 'test-down' }
  const tryOnce = async () => resultOf((await owner.post(form, fields)).text)?.[0]
  t.is(await tryOnce(), 'notice')
  // The limit allows another test every ten seconds, which can pass on a busy machine.
  await stopRefill(app.db, `trial:${team.project.id}`)
  for (let count = 1; count < 6; count++) t.is(await tryOnce(), 'notice')
  const { text } = await owner.post(form, fields)
  t.true(text.includes('Only six tests per minute are allowed.'))
  t.is(fieldsOf(text).name, 'Loan desk')
  t.is(sink.requests.length, 6)
  const others = await join(app, await createTeam(app, 'Others'), 'owner', `others-${team.organisationId}@example.com`)
  const other = /\/projects\/[0-9a-f-]+/.exec((await others.get('/projects')).text)?.[0]
  t.is(resultOf((await others.post(`${other}/integrations/new/webhook`, fields)).text)?.[0], 'notice')
})

test.serial('an expired test is not sent', async (t) => {
  await setUp(t)
  const { deps } = app
  const sealedConfig = deps.secrets.seal('integration', JSON.stringify({ url_down: `${sink.url}/late` }))
  const trial = { trialId: randomUUID(), projectId: team.project.id, status: 'down', sealedConfig } as const
  const reply = deps.replies.wait(trial.trialId, 20_000)
  const { replyTo } = deps.replies
  await deps.outbox.run((_tx, enqueue) => enqueue(integrationTried, { ...trial, beginBy: nowMicros() - 1, replyTo }))
  t.regex(String(await reply), /Nothing was sent/)
  t.deepEqual(sink.requests, [])
})
