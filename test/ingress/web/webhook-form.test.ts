import test from 'ava'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { EVENT_TYPES, OFFERED_EVENTS } from '#shared/webhooks/event-types.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join } from './people.ts'
import type { Visitor } from './visitor.ts'

const URL_WITHOUT_SERVER = 'http://127.0.0.1:9009/'

let app: HttpProduct
let owner: Visitor
let live: string

test.before(async () => {
  app = await sharedProduct({ workers: ['webhook-deliverer', 'sweeper'] })
  const team = await createTeam(app, 'Acme')
  await grantFamilies(app.deps.db, team.organisationId, ['risk-signals'])
  live = `/organisations/${team.organisationUuid}/risk/production`
  owner = await join(app, team, 'owner')
})

async function create(url: string): Promise<string> {
  const answer = await owner.post(`${live}/webhooks`, { url, events: 'all' }, `${live}/webhooks/new`)
  return answer.headers.location ?? ''
}

for (const [what, fields, field, message] of [
  ['an invalid URL', { url: 'nonsense', events: 'all' }, 'url', 'The URL'],
  [
    'an invalid filter',
    { url: 'https://example.com/', events: 'selected', eventTypes: 'weather.*' },
    'eventTypes',
    'Must be *, an event type',
  ],
  ['no event', { url: 'https://example.com/', events: 'selected' }, 'eventTypes', 'Select at least one event'],
] as const)
  test(`refuses ${what} with an error at its field and keeps the value`, async (t) => {
    const answer = await owner.post(`${live}/webhooks`, fields, `${live}/webhooks/new`)
    t.is(answer.status, 400)
    const [, error = ''] = new RegExp(`id="${field}-error"[^>]*>([^<]+)`).exec(answer.text) ?? []
    t.true(error.startsWith(message), error)
    t.true(answer.text.includes(`value="${fields.url}"`))
  })

test('a new endpoint receives all events, and its form lists every event with its name', async (t) => {
  const { text } = await owner.get(`${live}/webhooks/new`)
  t.regex(text, /id="events-all" name="events" value="all" checked/)
  for (const type of OFFERED_EVENTS) t.true(text.includes(`id="eventTypes-${type}" name="eventTypes"`), type)
  t.false(text.includes('anchor.'), 'nothing sends these events yet')
  t.regex(text, /Risk signals pack ready<\/label><p class="hint"[^>]*><code>risk_signals\.pack_ready</)
})

/** Returns the fields of the edit form as a browser sends them without a change. */
async function unchanged(path: string): Promise<Record<string, string>> {
  const { text } = await owner.get(`${path}/edit`)
  const chosen = (name: string) =>
    [...text.matchAll(new RegExp(`name="${name}" value="([^"]+)" checked`, 'g'))].map(([, value]) => value).join()
  return { events: chosen('events'), eventTypes: chosen('eventTypes') }
}

for (const filters of [
  ['*'],
  ['kyb.completed', '*'],
  ['kyb.*'],
  ['membership.*', 'kyb.*', 'kyb.completed'],
  ['anchor.*', 'anchor.included', 'webhook.test'],
  Object.keys(EVENT_TYPES),
])
  test(`an edit keeps the filters ${filters.slice(0, 3).join(' ')}`, async (t) => {
    const path = await create(URL_WITHOUT_SERVER)
    const id = path.split('/').at(-1)
    const endpoint = () => app.deps.db('webhook_endpoints').where({ id })
    await endpoint().update({ event_types: filters })
    const fields = { url: URL_WITHOUT_SERVER, description: 'renamed', ...(await unchanged(path)) }
    t.is((await owner.post(`${path}/edit`, fields)).status, 303)
    t.like(await endpoint().first(), { event_types: filters, description: 'renamed' })
  })

test('a chosen group replaces its types, and an endpoint can go back to all events', async (t) => {
  const path = await create(URL_WITHOUT_SERVER)
  const save = async (fields: Record<string, string>) => {
    const answer = await owner.post(`${path}/edit`, { url: URL_WITHOUT_SERVER, ...fields })
    t.is(answer.status, 303)
    return (
      await app.deps
        .db('webhook_endpoints')
        .where({ id: path.split('/').at(-1) })
        .first()
    ).event_types
  }
  const eventTypes = 'kyb.*,membership.*,kyb.completed,webhook.test'
  t.deepEqual(await save({ events: 'selected', eventTypes }), ['kyb.*', 'membership.*', 'webhook.test'])
  t.true((await owner.get(path)).text.includes('all of Businesses, Test event'))
  t.deepEqual(await save({ events: 'all', eventTypes }), ['*'])
})

test('the page of a new endpoint leads to a test event, which its verification code accepts', async (t) => {
  await using sink = await openHttpSink()
  const path = await create(sink.url)
  const first = (await owner.get(path)).text
  t.regex(first, /Next step</)
  const [, secret = ''] = /(whsec_[A-Za-z0-9+/=]+)/.exec(first) ?? []
  const [, code = ''] = /aria-label="verification in Node"><code>([\s\S]+?)<\/code>/.exec(first) ?? []
  const source = code.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  const { isFromSignalbox } = await import(`data:text/javascript,${encodeURIComponent(source)}`)
  await owner.post(`${path}/test`, {}, path)
  const { headers, body } = await sink.waitFor(() => true)
  t.true(isFromSignalbox(secret, headers, body))
  t.false(isFromSignalbox(secret, headers, Buffer.concat([body, Buffer.from(' ')])))
  t.false(isFromSignalbox(`whsec_${Buffer.alloc(32).toString('base64')}`, headers, body))
  t.false(isFromSignalbox(secret, { ...headers, 'webhook-timestamp': 'now' }, body))
  t.throws(() => isFromSignalbox('', headers, body), { message: 'the secret is missing' })
  await eventually('the success', async () => !(await owner.get(path)).text.includes('Next step<'))
})

test('an endpoint beyond the limit is refused at its field', async (t) => {
  const full = await createTeam(app, 'Full')
  const person = await join(app, full, 'owner')
  await app.deps.db.raw(
    `INSERT INTO webhook_endpoints (id, organisation_id, env, url, description, event_types, ordered, sealed_secret,
       created_at, updated_at)
     SELECT gen_random_uuid(), ?, 'PRODUCTION', ?, '', '{*}', false, '', now(), now() FROM generate_series(1, 100)`,
    [full.organisationId, URL_WITHOUT_SERVER],
  )
  const base = `/organisations/${full.organisationUuid}/risk/production/webhooks`
  const answer = await person.post(base, { url: URL_WITHOUT_SERVER, events: 'all' }, `${base}/new`)
  t.is(answer.status, 409)
  t.regex(answer.text, /id="url-error"[^>]*>An organisation has at most 100 endpoints\.</)
})

test('a sandbox endpoint leads to a test event once, and offers no replay', async (t) => {
  const list = `${live.replace('production', 'sandbox')}/webhooks`
  const made = await owner.post(list, { url: 'https://hooks.example/sandbox', events: 'all' }, `${list}/new`)
  const path = made.headers.location ?? ''
  t.regex((await owner.get(path)).text, /Next step<[\s\S]*webhook-inbox/)
  await owner.post(`${path}/test`, {}, path)
  const text = await eventually('the test event to be suppressed', async () => {
    const page = (await owner.get(path)).text
    return page.includes('not sent: sandbox') && page
  })
  t.false(text.includes('Next step<'))
  for (const part of ['endpoints of the sandbox are never contacted', '>Send test event<'])
    t.true(text.includes(part), part)
  t.false(text.includes('id="replay"'), 'nothing of the sandbox is sent')
})

test('a private address is refused with the setting that allows it', async (t) => {
  await using strict = await openProduct({ listener: 'http', env: { ALLOW_PRIVATE_TARGETS: '' } })
  const own = await createTeam(strict, 'Strict')
  await grantFamilies(strict.deps.db, own.organisationId, ['risk-signals'])
  const person = await join(strict, own, 'owner', 'strict@example.com')
  const base = `/organisations/${own.organisationUuid}/risk/production/webhooks`
  const { text } = await person.post(base, { url: 'https://10.0.0.7/hook', events: 'all' }, `${base}/new`)
  t.regex(text, /The URL leads to a private address\. The operator of this installation can allow it/)
})
