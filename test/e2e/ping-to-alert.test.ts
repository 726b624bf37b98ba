import test from 'ava'
import { nowMicros } from '#shared/time.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct, waitForEveryBarrier } from '../support/product.ts'
import { openSmtpSink } from '../support/smtp-sink.ts'

const HOUR = 3_600_000_000

test('a check goes up, down and up, and its integrations are notified once per change', async (t) => {
  await using sink = await openHttpSink()
  await using mail = await openSmtpSink()
  await using product = await openProduct({ env: { SMTP_URL: mail.url } })
  const project = await product.project()
  await product.workers()
  const { base, deps } = await product.ingress()
  waitForEveryBarrier(deps)
  // The clock of the second listener is an hour behind, so checks pinged there are overdue.
  const past = await product.ingress({ now: () => nowMicros() - HOUR })

  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { 'X-Api-Key': project.apiKey },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const addIntegration = async (kind: string, config: unknown) =>
    (await call('POST', '/api/v3/channels/', { kind, name: kind, config })).status
  t.is(await addIntegration('webhook', { url: `${sink.url}/$STATUS` }), 201)
  t.is(await addIntegration('email', { value: 'ops@example.org' }), 201)
  await mail.waitFor(1)
  mail.mails.length = 0
  await product.db('integrations').where({ kind: 'email' }).update({ email_verified: true })

  const created = await call('POST', '/api/v3/checks/', { name: 'Nightly', timeout: 60, grace: 60, channels: '*' })
  t.is(created.status, 201)
  t.is(created.body.status, 'new')
  const { uuid } = created.body
  const ping = async (suffix = '', from = base) => (await fetch(`${from}/ping/${uuid}${suffix}`)).text()
  const check = async () => (await call('GET', `/api/v3/checks/${uuid}`)).body

  t.is(await ping(), 'OK')
  t.like(await check(), { status: 'up', n_pings: 1, started: false })
  t.is(await ping('/start'), 'OK')
  t.like(await check(), { status: 'up', n_pings: 2, started: true })
  t.is(await ping('/log'), 'OK')
  t.is(await ping('/0'), 'OK')
  t.like(await check(), { status: 'up', n_pings: 4, started: false })
  t.is(sink.requests.length, 0)

  t.is(await ping('/7'), 'OK')
  t.like(await check(), { status: 'down', n_pings: 5 })
  await sink.waitFor(1)
  await mail.waitFor(1)
  t.is(await ping(), 'OK')
  await sink.waitFor(2)
  await mail.waitFor(2)
  t.deepEqual(
    sink.requests.map(({ path }) => path),
    ['/down', '/up'],
  )

  // Overdue: pinged for the last time an hour ago.
  const silent = (await call('POST', '/api/v3/checks/', { name: 'Silent', timeout: 60, grace: 60, channels: '*' })).body
  t.is(await (await fetch(`${past.base}/ping/${silent.uuid}`)).text(), 'OK')
  const down = await eventually('the silent check to be stored as down', async () => {
    const [flip] = (await call('GET', `/api/v3/checks/${silent.uuid}/flips/`)).body
    return flip?.up === 0 ? flip : undefined
  })
  const [{ date }] = (await call('GET', `/api/v3/checks/${silent.uuid}/pings/`)).body.pings
  t.is(Date.parse(down.timestamp), Math.floor((Date.parse(date) + 120_000) / 1000) * 1000, 'dated at the deadline')
  await sink.waitFor(3)
  await mail.waitFor(3)
  t.is(await (await fetch(`${base}/ping/${silent.uuid}`)).text(), 'OK')
  await sink.waitFor(4)
  await mail.waitFor(4)
  t.deepEqual(
    sink.requests.map(({ path }) => path),
    ['/down', '/up', '/down', '/up'],
  )
  const subjects = mail.mails.map(({ raw }) => /^Subject: (.*)$/m.exec(raw.toString())?.[1]?.trim())
  t.deepEqual(subjects, ['DOWN | Nightly', 'UP | Nightly', 'DOWN | Silent', 'UP | Silent'])
  t.deepEqual(mail.mails[0]?.to, ['ops@example.org'])
})
