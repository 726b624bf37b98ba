import test from 'ava'
import { closeEndpoint } from '#shared/webhooks/endpoint-store.ts'
import type { AdminContext } from '../../../ingress/admin/command.ts'
import { webhookCommands } from '../../../ingress/admin/webhooks.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openPipeline, type Pipeline } from './webhook-pipeline.ts'
import { addEndpoint, deliveriesOf, emit, secretsOf } from './webhook-support.ts'

let pipeline: Pipeline
test.before(async () => {
  pipeline = await openPipeline()
})
test.after.always(() => pipeline[Symbol.asyncDispose]())

test('the operator lists backlog, attempts and disabled endpoints, and replays', async (t) => {
  await using sink = await openHttpSink()
  sink.enqueue({ status: 410, body: 'gone\u001b[31m for good' })
  await using deps = await pipeline.workers(['webhook-deliverer', 'sweeper'])
  const context: AdminContext = { ...pipeline, secrets: secretsOf(pipeline), log: deps.log, actor: 'tester' }
  const run = async (verb: string, options: Record<string, string> = {}) => {
    const command = webhookCommands.find((one) => one.verb === verb)
    if (!command) throw new Error(verb)
    return await command.run(options, context)
  }
  const endpoint = await addEndpoint(pipeline, sink.url, { eventTypes: ['risk_signals.*'] })
  await emit(deps.outbox, endpoint)
  const delivery = await eventually('the delivery to fail', async () => {
    const [row] = await deliveriesOf(pipeline.db, endpoint.id)
    return row?.state === 'FAILED' ? row : undefined
  })
  const attempts = await run('attempts', { delivery: delivery.id })
  t.regex(attempts.text, /failed {2}410 {2}"gone\\u001b\[31m for good"/)
  t.regex((await run('disabled')).text, new RegExp(`^${endpoint.id} .*DISABLED_FAILING \\(GONE\\)`))
  await t.throwsAsync(() => run('replay', { endpoint: endpoint.id }), { message: /DISABLED_FAILING/ })
  await pipeline.db('webhook_endpoints').where({ id: endpoint.id }).update({ state: 'ACTIVE', state_reason: null })
  t.deepEqual((await run('replay', { endpoint: endpoint.id })).json, { endpointId: endpoint.id, replayed: 1 })
  await sink.waitFor(2)
  await eventually('an empty backlog', async () => {
    const { json } = await run('backlog')
    return JSON.stringify(json) === '{"due":0,"open":0,"oldestSeconds":0}'
  })
  await closeEndpoint(pipeline.db, endpoint.id, 'DELETED', Date.now() * 1000)
  await t.throwsAsync(() => run('replay', { endpoint: endpoint.id }), { message: 'there is no such endpoint' })
})
