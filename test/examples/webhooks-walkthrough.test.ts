import { join } from 'node:path'
import test from 'ava'
import { pathToken } from '#shared/risk/colending/lms-signature.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { root } from '../support/imports.ts'
import { makeCredentials } from '../support/platform-client.ts'
import { blocksRunBy, sharedProduct, shell } from './walkthrough.ts'

/** The commands of docs/webhooks.md that are marked to run here, in order. */
const blocks = blocksRunBy('docs/webhooks.md', import.meta.filename).map(({ text }) => text)
const used = new Set<string>()

/** The one block that holds this text. */
function blockWith(text: string): string {
  const found = blocks.filter((block) => block.includes(text))
  const [block = ''] = found
  if (found.length !== 1) throw new Error(`${found.length} blocks with ${text}`)
  used.add(block)
  return block
}

test('the walk through docs/webhooks.md works with curl, from registering to replaying', async (t) => {
  const product = await sharedProduct()
  const { bin } = product
  const { code: isNotCreated, out: created } = await shell(blockWith('client create'), { bin })
  t.is(isNotCreated, 0, created)
  for (const name of ['clientId', 'clientSecret', 'lmsIntegrationId', 'lmsSecret'])
    t.regex(created, new RegExp(`^${name} +\\S+$`, 'm'))
  const client = await makeCredentials(product, { env: 'PRODUCTION' })
  await using sink = await openHttpSink()
  const variables: Record<string, string> = {
    CLIENT_ID: client.clientId,
    CLIENT_SECRET: client.clientSecret,
    LMS_SECRET: String(client.lmsSecret),
    LMS_INTEGRATION_ID: client.lmsIntegrationId,
  }
  const preamble = blockWith('api()').replace('http://localhost:8080', product.url)
  const run = async (script: string) => (await shell(`${preamble}\n${script}`, { bin, ...variables })).out

  const register = blockWith('"eventTypes": ["risk_signals.*"]')
    .replace('https://consumer.example/hooks', `${sink.url}/hooks`)
    .replace('risk_signals.*', '*')
  const [registered = '', id = ''] = (await run(`${register}echo "$ID"`)).split('\n')
  const endpoint = JSON.parse(registered)
  t.is(id, endpoint.id)
  variables.ID = id

  // See what happened.
  const look = blockWith('/deliveries"').split('\n')
  variables.DELIVERY = (await run(`${look[0]}\necho "$DELIVERY"`)).trim()
  const request = await sink.waitFor(1)
  await eventually('the attempt to be listed', async () => {
    const out = await run('curl -s -H "Authorization: Bearer $TOKEN" "$BASE/v1/webhooks/deliveries/$DELIVERY"')
    return JSON.parse(out).state === 'DELIVERED'
  })
  t.is(JSON.parse(await run(look[1] ?? '')).deliveries[0].id, variables.DELIVERY)

  // Verify.
  const headers = {
    WEBHOOK_SECRET: endpoint.secret,
    WEBHOOK_ID: String(request.headers['webhook-id']),
    WEBHOOK_TIMESTAMP: String(request.headers['webhook-timestamp']),
    WEBHOOK_SIGNATURE: String(request.headers['webhook-signature']),
  }
  const verifier = join(root, 'examples/webhook-verifiers/shell/verify.sh')
  t.is((await shell(`sh ${verifier}`, { bin, ...headers, input: request.body.toString() })).code, 0)
  t.is((await shell(`sh ${verifier}`, { bin, ...headers, input: `${request.body} ` })).code, 1)

  // Break it, receive an event meanwhile, repair it, replay.
  t.is(JSON.parse(await run('api -X POST "$BASE/v1/webhooks/endpoints/$ID/disable"')).state, 'DISABLED')
  const inbound = blockWith('BODY=')
  const received = JSON.parse(await run(inbound))
  t.is(received.eventType, 'loan.disbursed')
  t.is(sink.requests.length, 1)
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const [enabled, replayed] = (await run(blockWith('/replay"').replace('2026-11-20T00:00:00Z', from)))
    .replaceAll('}{', '}\n{')
    .split('\n')
  t.is(JSON.parse(enabled ?? '').state, 'ACTIVE')
  t.deepEqual(JSON.parse(replayed ?? ''), { replayed: 1, complete: true })
  const event = await sink.waitFor(({ body }) => JSON.parse(body.toString()).event === 'lms.event_mapped')
  t.is(JSON.parse(event.body.toString()).dealId, received.contractId)

  const token = await run(`${inbound.split('\n')[1]}\n${blockWith('lms-path:')}`)
  t.true(token.trim().endsWith(pathToken(String(client.lmsSecret), client.lmsIntegrationId)))

  // The operator's view of it.
  const { code, out } = await shell(blockWith('webhooks backlog'), { bin, ...variables })
  t.is(code, 0, out)
  t.regex(out, /DELIVERED|200/)
  t.deepEqual(
    blocks.filter((block) => !used.has(block)),
    [],
  )
})
