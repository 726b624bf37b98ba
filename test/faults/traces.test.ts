import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { z } from 'zod'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

const spanShape = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.string().regex(/^\d{19}$/),
  endTimeUnixNano: z.string().regex(/^\d{19}$/),
})
const bodyShape = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanShape) })) })),
})
type Span = z.infer<typeof spanShape>

/** A collector that stores received spans. */
async function openCollector() {
  const spans: Span[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(`${request.method} ${request.url} ${body}`)
      const { resourceSpans } = bodyShape.parse(JSON.parse(body))
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`

test.serial('one trace covers a ping, queues, workers, the database and the notification request', async (t) => {
  await using collector = await openCollector()
  await using sink = await openHttpSink()
  await using product = await openProduct({
    listener: 'http',
    workers: ['ping-evaluator', 'notifier'],
    env: { TRACES_URL: collector.url, TRACES_PERCENT: '100' },
  })
  const project = await product.project()
  const check = await addCheck(product.deps, project.id)
  await notify(product.db, [check], [await addWebhook(product.deps, project.id, sink.url)])
  await fetch(`${product.url}/ping/${check.uuid}/fail`, { headers: { traceparent } })
  const request = await sink.waitFor(1)
  t.regex(String(request.headers.traceparent), new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))

  const wanted = [
    'GET ping',
    'pings',
    'db transaction',
    'alerts.wake.alerter',
    'notification.due.notifier',
    'HTTP POST',
  ]
  const ours = () => collector.spans.filter(({ traceId }) => traceId === TRACE)
  await eventually('all of its spans', () => wanted.every((name) => ours().some((span) => span.name === name)))
  const byId = new Map(ours().map((span) => [span.spanId, span]))
  const pathOf = (span: Span | undefined): string[] =>
    span ? [...pathOf(byId.get(span.parentSpanId ?? '')), span.name] : []
  const path = pathOf(ours().find(({ name }) => name === 'HTTP POST'))
  t.deepEqual(
    path.filter((name) => wanted.includes(name)),
    ['GET ping', 'pings', 'alerts.wake.alerter', 'notification.due.notifier', 'HTTP POST'],
    path.join(' > '),
  )
  for (const span of ours()) t.true(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name)
  const sent = collector.bodies.join()
  t.true(sent.startsWith('POST /v1/traces '))
  t.false(sent.includes(check.uuid), 'no trace contains the uuid of the check')
})

test.serial('without an endpoint nothing is traced and no trace header is sent', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: ['ping-evaluator', 'notifier'] })
  const project = await product.project()
  const check = await addCheck(product.deps, project.id)
  await notify(product.db, [check], [await addWebhook(product.deps, project.id, sink.url)])
  await fetch(`${product.url}/ping/${check.uuid}/fail`, { headers: { traceparent } })
  const request = await sink.waitFor(1)
  t.is(request.headers.traceparent, undefined)
})
