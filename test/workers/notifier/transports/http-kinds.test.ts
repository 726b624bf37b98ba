import test from 'ava'
import { transports } from '../../../../workers/notifier/transports/registry.ts'
import { openHttpSink, type RecordedRequest } from '../../../support/http-sink.ts'
import { someNotification, someRecovery } from '../../../support/notification.ts'
import { openTransportContext } from '../transport-context.ts'
import { chatKinds } from './chat-forms.ts'
import type { Kind } from './form.ts'
import { incidentKinds } from './incident-forms.ts'

/** A kind may appear twice, for a second permanent failure. */
const kinds: readonly Kind[] = [...chatKinds, ...incidentKinds]

async function open(kind: Kind, timeoutMs?: number) {
  const sink = await openHttpSink()
  const twilio = { url: sink.url, account: 'AC1', auth: 'tok', from: '+15550199' }
  const context = openTransportContext(
    { settings: { siteName: 'Signalbox', twilio, appriseUrl: sink.url, mayRunCommands: false } },
    timeoutMs,
  )
  const transport = transports.get(kind.kind)
  if (!transport) throw new Error(`no transport for ${kind.kind}`)
  return {
    sink,
    send: (notification = someNotification()) => transport.send(context, kind.config(sink.url), notification),
    async [Symbol.asyncDispose]() {
      await context[Symbol.asyncDispose]()
      await sink[Symbol.asyncDispose]()
    },
  }
}

function bodyOf(request: RecordedRequest): unknown {
  const text = request.body.toString()
  if (request.headers['content-type'] === 'application/x-www-form-urlencoded')
    return Object.fromEntries(new URLSearchParams(text))
  return request.headers['content-type'] === 'application/json' ? JSON.parse(text) : text
}

for (const [index, kind] of kinds.entries()) {
  const name = `${kind.kind} (${index})`

  for (const [what, expected, notification] of [
    ['failure', kind.down, someNotification()],
    ['recovery', kind.up, someRecovery()],
  ] as const) {
    if (!expected) continue
    test(`${name}: sends a ${what} in the documented format`, async (t) => {
      await using opened = await open(kind)
      t.deepEqual(await opened.send(notification), { result: 'delivered' })
      t.is(opened.sink.requests.length, 1)
      const [request] = opened.sink.requests
      if (!request) return t.fail()
      t.like(request, {
        headers: { 'user-agent': 'Signalbox', ...expected.headers },
        ...(expected.method && { method: expected.method }),
        ...(expected.url && { url: expected.url }),
      })
      if (expected.body) t.like(bodyOf(request), expected.body)
      for (const text of expected.contains ?? [])
        t.true(request.body.toString().includes(text), `${text} in ${request.body}`)
    })
  }

  test(`${name}: retries an overloaded service after its Retry-After`, async (t) => {
    await using opened = await open(kind)
    opened.sink.respond = () => ({ status: 429, headers: { 'retry-after': '17' } })
    t.like(await opened.send(), {
      result: 'temporary',
      error: 'Received status code 429',
      retryAfterSeconds: 17,
      final: false,
    })
  })

  test(`${name}: does not retry after a permanent failure`, async (t) => {
    await using opened = await open(kind)
    opened.sink.respond = () => kind.gone
    const outcome = await opened.send()
    if (outcome.result === 'delivered') return t.fail()
    t.is(outcome.result, 'permanent')
    if (typeof kind.gone.error === 'string') t.is(outcome.error, kind.gone.error)
    else t.regex(outcome.error, kind.gone.error)
  })

  test(`${name}: a service that does not respond is a temporary timeout`, async (t) => {
    await using opened = await open(kind, 300)
    opened.sink.respond = () => ({ misbehave: 'hang' })
    t.like(await opened.send(), { result: 'temporary', error: 'Connection timed out', failure: 'timeout' })
  })

  test(`${name}: reports an invalid configuration as a permanent failure`, async (t) => {
    await using context = openTransportContext()
    const outcome = await transports.get(kind.kind)?.send(context, { nonsense: true }, someNotification())
    if (outcome?.result !== 'permanent') return t.fail()
    t.regex(outcome.error, /^The configuration is not valid: \w+ /)
  })
}
