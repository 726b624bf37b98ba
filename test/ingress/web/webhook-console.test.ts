import test from 'ava'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import type { HttpProduct } from '../../support/product.ts'
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
  const answer = await owner.post(`${live}/webhooks`, { url, events: 'all' }, `${live}/webhooks/new`)
  return answer.headers.location ?? ''
}

test('the sidebar lists the areas of the console on every page', async (t) => {
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
    [live, 'financing', 'financing'],
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
    t.deepEqual(current('page'), [`${base}/${area}`], 'one entry is the current page')
    t.deepEqual(current('true'), [`${base}/${area}`], 'one environment is the current one')
    t.is(found.filter(({ href }) => href === `${base}/identity`).length, 1, 'each area is listed once')
  }
  const outside = await links('/projects')
  t.deepEqual(
    outside.map(({ href }) => href),
    areas.split(' ').map((one) => live.replace('production', one)),
  )
  const isOpen = async (path: string) =>
    /<details open[^>]*class="nav-section"|<details class="nav-section" open/.test((await owner.get(path)).text)
  t.deepEqual([await isOpen('/projects'), await isOpen(`${sandbox}/packs`)], [false, true])
})

test('the console opens in the environment used last, at first in production if it is in use', async (t) => {
  await using sink = await openHttpSink()
  const other = await createTeam(app, 'Third')
  const base = `/organisations/${other.organisationUuid}/risk`
  const [first, second] = [await join(app, other, 'owner'), await join(app, other, 'member')]
  const opened = async (visitor: Visitor, area: string) => (await visitor.get(`${base}${area}`)).headers.location
  t.is(await opened(second, '/webhooks'), `${base}/sandbox/webhooks`)
  const production = `${base}/production/webhooks`
  t.is((await first.post(production, { url: sink.url, events: 'all' })).status, 303)
  t.is(await opened(second, '/webhooks'), production)
  t.is(await opened(second, ''), `${base}/production/packs`)

  const { text } = await second.get(`${base}/sandbox/webhooks`)
  t.regex(text, /No endpoints in the sandbox yet[\s\S]*Production has 1 endpoint</)
  t.is(await opened(second, '/usage'), `${base}/sandbox/usage`)
  await second.get(production)
  t.is(await opened(second, '/usage'), `${base}/production/usage`)
  t.is((await second.get(`${base}/other`)).status, 404)
  t.is((await stranger.get(`${base}/webhooks`)).status, 404)
})

test('an endpoint is created, tested, changed, disabled and deleted with audit entries', async (t) => {
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
    /Test event<\/a><small class="mono">webhook\.test<\/small><\/td><td class="breakable" data-label="Deal">–<\/td>/,
    'a test event has no deal',
  )
  const changed = { url: sink.url, description: 'Loans', events: 'selected', eventTypes: 'kyb.*' }
  t.is((await owner.post(`${path}/edit`, changed)).status, 303)
  for (const page of [path, `${live}/webhooks`]) t.true((await owner.get(page)).text.includes('Loans'), page)
  await owner.post(`${path}/disable`, {}, path)
  t.true((await owner.get(path)).text.includes('Switch on'))
  await owner.post(`${path}/enable`, {}, path)
  const rotated = await owner.post(`${path}/rotate`, { _confirmed: 'yes' }, path)
  t.is(rotated.status, 303)
  t.true((await owner.get(path)).text.includes('the old secret is valid until'))
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

test('each cell of the deliveries has a label for narrow screens', async (t) => {
  await using sink = await openHttpSink()
  sink.respond = () => ({ status: 500 })
  const path = await create(sink.url)
  const tested = await owner.post(`${path}/test`, {}, path)
  const delivery = await eventually('the attempt', async () => {
    const { text } = await owner.get(tested.headers.location ?? '')
    return text.includes('1. failed') ? text : null
  })
  t.true(delivery.includes('failed: the status is not 2xx'))
  t.notRegex(delivery, /· status ·|<dd>status</, 'the list shows labels, not names of the API')
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
  const submit = async (fields: Record<string, string>) => {
    const answer = await owner.post(`${path}/replay`, { state: 'DELIVERED', ...fields }, path)
    return (await owner.get(answer.headers.location?.replace('#replay', '') ?? '')).text
  }
  t.true((await submit({ do: 'preview' })).includes('1 delivery would be sent again'))
  t.true((await submit({ do: 'preview', to: '2020-01-31T10:00' })).includes('0 deliveries would be sent again'))
  const kept = await submit({ do: 'preview', from: '2020-01-31T10:00' })
  t.true(kept.includes('value="2020-01-31T10:00"'), 'the form keeps the range')
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const shown = (await owner.get(path)).text.replaceAll('&amp;', '&')
  const [, preset = ''] = /<a href="([^"]+)#replay">Yesterday<\/a>/.exec(shown) ?? []
  const filled = (await owner.get(preset)).text
  t.true(filled.includes(`value="${day}T00:00"`) && filled.includes(`value="${day}T23:59:59"`))
  t.true(filled.includes('All ten attempts failed.'))
  t.true((await submit({ do: 'preview', from: 'yesterday' })).includes('enter times as'))
  t.is(sink.requests.length, 1, 'a preview sends nothing')
  t.true((await submit({ do: 'replay', from: '2020-01-31T10:00' })).includes('1 delivery is sent again'))
  await sink.waitFor(2)
})

test('only owners create clients and grant families, with audit entries', async (t) => {
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
  const refused = await owner.post(path, { name: ' ', scope: 'usage:read' })
  t.is(refused.status, 400)
  t.regex(refused.text, /id="name-error"[^>]*>Must have 1 to 100 characters\.</)
  t.regex(refused.text, /value="usage:read" checked/, 'the form keeps its values')

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
