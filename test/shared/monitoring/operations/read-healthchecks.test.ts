import test from 'ava'
import { importClient, readHealthchecks } from '#shared/monitoring/operations/read-healthchecks.ts'
import { openHttpSink } from '../../../support/http-sink.ts'

const config = { allowPrivateTargets: true, siteName: 'tests' }
const json = (body: object) => ({ body: JSON.stringify(body) })

test('reads the newest API version of the server', async (t) => {
  await using sink = await openHttpSink()
  await using http = importClient(config)
  const answers: Record<string, object> = {
    '/hc/api/v2/checks/': { checks: [] },
    '/hc/api/v2/channels/': { channels: [] },
  }
  sink.respond = ({ path }) => (answers[path] ? json(answers[path]) : { status: 404 })
  sink.enqueue({ status: 429, headers: { 'retry-after': '0' } })
  const read = await readHealthchecks(http, { url: `${sink.url}/hc/`, apiKey: 'k'.repeat(32) })
  t.deepEqual(
    [Object.keys(read.checks), read.channels && Object.keys(read.channels), read.badges],
    [['checks'], ['channels'], null],
  )
  t.deepEqual(
    sink.requests.map(({ path }) => path),
    ['/hc/api/v3/checks/', '/hc/api/v3/checks/', '/hc/api/v2/checks/', '/hc/api/v2/channels/', '/hc/api/v2/badges/'],
  )
  t.true(sink.requests.every(({ headers }) => headers['x-api-key'] === 'k'.repeat(32)))
})

test('a source that cannot be read is refused with its reason', async (t) => {
  await using sink = await openHttpSink()
  await using http = importClient(config)
  const apiKey = 'secret-of-the-other-service'
  const read = (url = sink.url) => readHealthchecks(http, { url, apiKey })
  const cases: [answer: Parameters<typeof sink.enqueue>[0], message: RegExp][] = [
    [{ status: 401 }, /^the other service refuses the API key: is it the read-write key\?$/],
    [{ status: 500 }, /^the other service answers 500 to the request for checks$/],
    [{ body: '<html>' }, /^the list of checks is not JSON$/],
    [{ status: 429, headers: { 'retry-after': '3600' } }, /limits its requests/],
  ]
  for (const [answer, message] of cases) {
    sink.enqueue(answer)
    const error = await t.throwsAsync(read(), { message })
    t.false(error.message.includes(apiKey))
  }
  sink.respond = () => ({ misbehave: 'reset' })
  await t.throwsAsync(read(), { message: /^127\.0\.0\.1:\d+ cannot be read: / })
  sink.respond = () => ({ status: 404 })
  await t.throwsAsync(read(), { message: /has no management API of Healthchecks/ })
  await t.throwsAsync(read('not an address'), {
    message: 'the address must begin with https:// or http:// and a host name',
  })
  await t.throwsAsync(readHealthchecks(http, { url: sink.url, apiKey: 'a b' }), { message: /^the API key must have/ })
})

test('an import does not reach a private address, directly or by a redirect', async (t) => {
  await using sink = await openHttpSink()
  await using bound = importClient({ ...config, allowPrivateTargets: false })
  const error = await t.throwsAsync(readHealthchecks(bound, { url: sink.url, apiKey: 'k' }))
  t.regex(
    error.message,
    /127\.0\.0\.1:\d+ cannot be read: .*private IP addresses are not allowed; .* ALLOW_PRIVATE_TARGETS$/,
  )
  t.is(sink.requests.length, 0)

  await using http = importClient({ ...config, allowPrivateTargets: ['127.0.0.0/8'] })
  sink.enqueue({ status: 302, headers: { location: 'http://169.254.169.254/latest/' } })
  const redirected = await t.throwsAsync(readHealthchecks(http, { url: sink.url, apiKey: 'k' }))
  t.regex(redirected.message, /private IP addresses are not allowed/)
})
