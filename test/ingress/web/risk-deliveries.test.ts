import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { ApiEnv } from '#shared/environment.ts'
import type { Role } from '#shared/tenancy/accounts/roles.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { insertEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let base: string
let stranger: Visitor
const people = new Map<Role, Visitor>()

test.before(async () => {
  app = await sharedProduct({ workers: ['webhook-deliverer', 'sweeper'] })
  team = await createTeam(app, 'Acme <Finance>')
  await grantFamilies(app.deps.db, team.organisationId, ['risk-signals'])
  base = `/organisations/${team.organisationUuid}/risk/sandbox`
  for (const role of ['owner', 'member'] as const) people.set(role, await join(app, team, role))
  stranger = await join(app, await createTeam(app, 'Other'), 'owner')
})

function person(role: Role): Visitor {
  const found = people.get(role)
  if (!found) throw new Error(`no user has the role ${role}`)
  return found
}

async function addEndpoint(env: ApiEnv, url: string): Promise<string> {
  const endpoint = await insertEndpoint(app.deps.db, {
    id: randomUUID(),
    organisationId: team.organisationId,
    env,
    url,
    description: '',
    eventTypes: ['*'],
    ordered: false,
    sealedSecret: app.deps.secrets.seal('webhook-secret', `whsec_${Buffer.alloc(32, 7).toString('base64')}`),
  })
  return endpoint.id
}

test('a delivery shows its attempts and can be resent and replayed', async (t) => {
  await using sink = await openHttpSink()
  sink.enqueue({ status: 500, headers: { 'retry-after': '3600' } })
  const live = base.replace('sandbox', 'production')
  const endpoint = await addEndpoint('PRODUCTION', sink.url)
  const owner = person('owner')
  t.true((await owner.get(`${live}/webhooks`)).text.includes(sink.url))
  t.true((await owner.get(`${live}/webhooks/${endpoint}`)).text.includes('No deliveries yet'))
  await app.deps.outbox.run((tx, enqueue) =>
    recordEvent(tx, enqueue, {
      env: 'PRODUCTION',
      organisationId: team.organisationId,
      type: 'risk_signals.pack_ready',
      dealId: "<i>it's</i>",
      fields: ['packId'],
      occurredAt: new Date().toISOString(),
    }),
  )
  const page = await eventually('the delivery', async () => {
    const { text } = await owner.get(`${live}/webhooks/${endpoint}`)
    return /[^"]+\/deliveries\/[0-9a-f-]{36}/.exec(text)?.[0]
  })
  const shows = (what: string, ...parts: string[]) =>
    eventually(what, async () => {
      const { text } = await owner.get(page)
      return parts.every((part) => text.includes(part)) && text
    })
  const failed = await shows('the failed attempt', '1. failed', 'HTTP 500', 'next attempt')
  t.false(failed.includes('<i>it'))
  t.true(failed.includes('curl -X POST'))
  t.is((await stranger.get(page)).status, 404)

  t.is((await person('member').post(`${page}/resend`, {}, page)).status, 303)
  await shows('the second attempt', '2. delivered', 'HTTP 200')
  t.is((await owner.post(`${page}/resend`, {}, page)).status, 409, 'a delivered event is not sent again')

  const replayed = await owner.post(
    `${live}/webhooks/${endpoint}/replay`,
    { state: 'DELIVERED' },
    `${live}/webhooks/${endpoint}`,
  )
  t.is(replayed.status, 303)
  await sink.waitFor(3)
  await shows('the third attempt', '3. delivered')
  const [first, ...others] = sink.requests.map(({ body }) => body.toString())
  t.true(others.every((body) => body === first))
})
