import test from 'ava'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let member: Visitor
let stranger: Visitor
let live: string

test.before(async () => {
  app = await sharedProduct({ workers: ['webhook-deliverer', 'sweeper'] })
  team = await createTeam(app, 'Acme')
  await grantFamilies(app.deps.db, team.organisationId, ['risk-signals'])
  live = `/organisations/${team.organisationUuid}/risk/production`
  owner = await join(app, team, 'owner')
  member = await join(app, team, 'member')
  stranger = await join(app, await createTeam(app, 'Other'), 'owner')
})

async function create(url: string): Promise<string> {
  const answer = await owner.post(`${live}/webhooks`, { url, eventTypes: '*' }, `${live}/webhooks/new`)
  return answer.headers.location ?? ''
}

test('the sidebar has the areas of the console on every page, and opens them inside it', async (t) => {
  const links = async (path: string) => {
    const { text } = await owner.get(path)
    return [...text.matchAll(/<a (?:class="i-[\w-]+" )?href="([^"]+)"(?: aria-current="(\w+)")?>/g)]
      .map(([, href = '', now]) => ({ href, now }))
      .filter(({ href }) => href.includes('/risk/'))
  }
  const areas = 'packs identity businesses financing acceptance trade imports pools clients agents webhooks usage'
  const sandbox = live.replace('production', 'sandbox')
  for (const [base, page, area] of [
    [sandbox, 'packs/new', 'packs'],
    [live, 'trade/documents', 'trade'],
    [live, 'webhooks/new', 'webhooks'],
  ]) {
    const found = await links(`${base}/${page}`)
    const entries = found.slice(0, 12).map(({ href }) => href)
    t.deepEqual(
      entries,
      areas.split(' ').map((one) => `${base}/${one}`),
      page,
    )
    const current = (how: string) => found.filter(({ now }) => now === how).map(({ href }) => href)
    t.deepEqual(current('page'), [`${base}/${area}`], 'the page marks its position once')
    t.deepEqual(current('true'), [`${base}/${area}`], 'of the two environments one is open')
    t.is(found.filter(({ href }) => href === `${base}/identity`).length, 1, 'there is no second row of them')
  }
  const outside = await links('/projects')
  t.deepEqual(
    outside.map(({ href }) => href),
    areas.split(' ').map((one) => `${sandbox}/${one}`),
  )
  const isOpen = async (path: string) =>
    /<details open[^>]*class="nav-section"|<details class="nav-section" open/.test((await owner.get(path)).text)
  t.deepEqual([await isOpen('/projects'), await isOpen(`${sandbox}/packs`)], [false, true])
})

test('an endpoint is created, tried, changed, switched off and on, given a new secret and deleted, each noted', async (t) => {
  await using sink = await openHttpSink()
  const path = await create(sink.url)
  const first = await owner.get(path)
  const [, secret = ''] = /(whsec_[A-Za-z0-9+/=]+)/.exec(first.text) ?? []
  t.not(secret, '')
  t.false((await owner.get(path)).text.includes(secret), 'the secret is shown once')

  const tested = await owner.post(`${path}/test`, {}, path)
  await sink.waitFor(1)
  t.regex(String(sink.requests[0]?.headers['webhook-signature']), /^v1,/)
  const delivery = await eventually('the attempt', async () => {
    const { text } = await owner.get(tested.headers.location ?? '')
    return text.includes('HTTP 200') ? text : null
  })
  for (const part of ['Request', 'Response', 'webhook-id', 'webhook.test']) t.true(delivery.includes(part), part)

  t.regex(
    (await owner.get(path)).text,
    /webhook\.test<\/a><\/td><td class="breakable" data-label="Deal">–<\/td>/,
    'it is of no deal',
  )
  t.is((await owner.post(`${path}/edit`, { url: sink.url, description: 'Loans', eventTypes: 'kyb.*' })).status, 303)
  for (const page of [path, `${live}/webhooks`]) t.true((await owner.get(page)).text.includes('Loans'), page)
  await owner.post(`${path}/disable`, {}, path)
  t.true((await owner.get(path)).text.includes('Enable'))
  await owner.post(`${path}/enable`, {}, path)
  const rotated = await owner.post(`${path}/rotate`, { _confirmed: 'yes' }, path)
  t.is(rotated.status, 303)
  t.true((await owner.get(path)).text.includes('the old secret signs too'))
  await owner.post(`${path}/delete`, { _confirmed: 'yes' }, path)
  t.is((await owner.get(path)).status, 404)
  const actions = await app.deps
    .db('audit_log')
    .where({ organisation_id: team.organisationId })
    .where({ target: sink.url })
    .whereLike('action', 'webhook.%')
    .orderBy('id')
    .pluck('action')
  t.deepEqual(actions, [
    'webhook.registered',
    'webhook.tested',
    'webhook.changed',
    'webhook.disabled',
    'webhook.enabled',
    'webhook.secret-rotated',
    'webhook.deleted',
  ])
})

for (const [what, fields, message] of [
  ['no address', { url: 'nonsense', eventTypes: '*' }, 'url'],
  ['a filter that is none', { url: 'https://example.com/', eventTypes: 'weather.*' }, 'must be *, an event type'],
] as const)
  test(`${what} is refused beside its field and keeps the typed value`, async (t) => {
    const answer = await owner.post(`${live}/webhooks`, fields, `${live}/webhooks/new`)
    t.is(answer.status, 400)
    t.true(answer.text.includes('aria-invalid="true"'))
    t.true(answer.text.toLowerCase().includes(message))
    t.true(answer.text.includes(`value="${fields.url}"`))
  })

test('a private address is refused in words, with who can allow it', async (t) => {
  await using strict = await openProduct({ listener: 'http', env: { ALLOW_PRIVATE_TARGETS: '' } })
  const own = await createTeam(strict, 'Strict')
  await grantFamilies(strict.deps.db, own.organisationId, ['risk-signals'])
  const person = await join(strict, own, 'owner', 'strict@example.com')
  const base = `/organisations/${own.organisationUuid}/risk/production/webhooks`
  const { text } = await person.post(base, { url: 'https://10.0.0.7/hook', eventTypes: '*' }, `${base}/new`)
  t.regex(text, /The URL leads to a private address\. The operator of this installation can allow it/)
})

test('on a phone the table of deliveries labels each of its values', async (t) => {
  await using sink = await openHttpSink()
  sink.respond = () => ({ status: 500 })
  const path = await create(sink.url)
  const tested = await owner.post(`${path}/test`, {}, path)
  const delivery = await eventually('the attempt', async () => {
    const { text } = await owner.get(tested.headers.location ?? '')
    return text.includes('1. failed') ? text : null
  })
  t.true(delivery.includes('failed: it answered with another status than 2xx'))
  t.notRegex(delivery, /· status ·|<dd>status</, 'no class of the API stands there')
  for (const [page, labels] of [
    [path, ['Deal', 'Attempts']],
    [`${live}/webhooks`, ['Events', 'Last 24 hours', 'Last success']],
  ] as const) {
    const { text } = await owner.get(page)
    t.regex(text, /<table class="[^"]*stacked/)
    for (const label of labels) t.true(text.includes(`data-label="${label}"`), label)
  }
})

test('a preview counts the deliveries of a replay without sending them', async (t) => {
  await using sink = await openHttpSink()
  const path = await create(sink.url)
  await owner.post(`${path}/test`, {}, path)
  await sink.waitFor(1)
  await eventually('the delivery', async () => (await owner.get(path)).text.includes('>delivered</span>'))
  const ask = async (fields: Record<string, string>) => {
    const answer = await owner.post(`${path}/replay`, { state: 'DELIVERED', ...fields }, path)
    return (await owner.get(answer.headers.location?.replace('#replay', '') ?? '')).text
  }
  t.true((await ask({ do: 'preview' })).includes('1 delivery would be sent again'))
  t.true((await ask({ do: 'preview', to: '2020-01-31T10:00' })).includes('0 deliveries would be sent again'))
  const kept = await ask({ do: 'preview', from: '2020-01-31T10:00' })
  t.true(kept.includes('value="2020-01-31T10:00"'), 'the range stays in the form')
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const shown = (await owner.get(path)).text.replaceAll('&amp;', '&')
  const [, preset = ''] = /<a href="([^"]+)#replay">Yesterday<\/a>/.exec(shown) ?? []
  const filled = (await owner.get(preset)).text
  t.true(filled.includes(`value="${day}T00:00"`) && filled.includes(`value="${day}T23:59:59"`))
  t.true(filled.includes('All ten attempts failed.'))
  t.true((await ask({ do: 'preview', from: 'yesterday' })).includes('enter times as'))
  t.is(sink.requests.length, 1, 'counting sends nothing')
  t.true((await ask({ do: 'replay', from: '2020-01-31T10:00' })).includes('1 delivery is sent again'))
  await sink.waitFor(2)
})

test('clients are made and families granted by owners alone, and that is noted', async (t) => {
  const path = `${live}/clients`
  await owner.post(`${live}/families/kyb/grant`, {}, path)
  const made = await owner.post(path, { name: 'Loan system', scope: 'webhooks:manage' })
  t.is(made.status, 303)
  const page = (await owner.get(path)).text
  const [, clientId = ''] = /(client_[0-9a-f]+)/.exec(page) ?? []
  const [, secret = ''] = /data-copy="(sk_[^"]+)"/.exec(page) ?? []
  t.false((await owner.get(path)).text.includes(secret), 'the secret is shown once')
  const token = () =>
    fetch(`${app.url}/v1/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: secret }),
    })
  const granted = await token()
  t.is(granted.status, 200)
  t.true(String(((await granted.json()) as { scope: string }).scope).includes('kyb:read'))
  t.is((await owner.post(path, { name: ' ' })).status, 303)
  t.true((await owner.get(path)).text.includes('No client is made'))

  for (const [who, status] of [
    [member, 403],
    [stranger, 404],
  ] as const) {
    const _csrf = await who.token('/account')
    for (const target of [path, `${live}/families/trade/grant`, `${path}/${clientId}/disable`])
      t.is((await who.send(target, { _csrf, name: 'X', _confirmed: 'yes' })).status, status, target)
  }
  const theirs = (await createTeam(app, 'Third')).organisationUuid
  t.is((await owner.post(`/organisations/${theirs}/risk/production/clients`, { name: 'X' }, path)).status, 404)
  await owner.post(`${path}/${clientId}/disable`, { _confirmed: 'yes' }, path)
  t.true((await owner.get(path)).text.includes('disabled'))
  const actions = await app.deps
    .db('audit_log')
    .where({ organisation_id: team.organisationId })
    .whereIn('action', ['family.granted', 'client.created', 'client.disabled'])
    .orderBy('id')
    .pluck('action')
  t.deepEqual(actions, ['family.granted', 'client.created', 'client.disabled'])
})
