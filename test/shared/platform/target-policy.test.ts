import test from 'ava'
import { checkTarget, type TargetPolicy } from '#shared/platform/http/target-policy.ts'

const monitoring: TargetPolicy = { allowPrivate: false, plainHttp: 'anywhere' }
const webhooks: TargetPolicy = { allowPrivate: false, plainHttp: 'allowed-networks' }
const resolvesTo =
  (...addresses: string[]) =>
  async () =>
    addresses
const unresolvable = async (): Promise<string[]> => {
  throw new Error('no such name')
}

const refused: [string, string][] = [
  ['http://127.0.0.1/', 'private-address'],
  ['http://[::1]/', 'private-address'],
  ['http://[::ffff:127.0.0.1]/', 'private-address'],
  ['http://0x7f.1/', 'private-address'],
  ['http://0177.0.0.1/', 'private-address'],
  ['http://2130706433/', 'private-address'],
  ['http://127.1/', 'private-address'],
  ['http://127.0.0.1./', 'private-address'],
  ['http://0/', 'private-address'],
  ['http://１２７.0.0.1/', 'private-address'],
  ['http://10.1.2.3/', 'private-address'],
  ['http://172.16.0.1/', 'private-address'],
  ['http://192.168.1.1/', 'private-address'],
  ['http://169.254.169.254/latest/meta-data', 'private-address'],
  ['http://100.64.0.1/', 'private-address'],
  ['http://[fc00::1]/', 'private-address'],
  ['http://[fe80::1]/', 'private-address'],
  ['http://[64:ff9b::7f00:1]/', 'private-address'],
  ['http://[2002:7f00:1::]/', 'private-address'],
  ['http://224.0.0.1/', 'private-address'],
  ['http://255.255.255.255/', 'private-address'],
  ['file:///etc/passwd', 'scheme'],
  ['gopher://example.com/', 'scheme'],
  ['ftp://example.com/', 'scheme'],
  ['https://user:secret@example.com/', 'credentials'],
  ['https://user@example.com/', 'credentials'],
  ['https://example.com:22/', 'port'],
  ['https://example.com:25/', 'port'],
  ['http://example.com:0/', 'port'],
  ['example.com', 'not-a-url'],
  ['', 'not-a-url'],
  ['https://', 'not-a-url'],
  ['https://db.internal/', 'private-address'],
  ['https://DB.INTERNAL./', 'private-address'],
  ['https://localhost/', 'private-address'],
  ['https://app.localhost/', 'private-address'],
  ['https://printer.local/', 'private-address'],
  ['https://rabbitmq:8080/', 'private-address'],
  ['https://rabbitmq:5672/', 'port'],
  ['http://example.com:5432/', 'port'],
  ['http://example.com:6667/', 'port'],
  ['http://[::7f00:1]/', 'private-address'],
]
for (const [url, reason] of refused)
  test(`the target "${url}" is refused: ${reason}`, async (t) => {
    t.deepEqual(await checkTarget(url, monitoring, resolvesTo('93.184.216.34')), { ok: false, reason })
  })

for (const url of ['http://localhost./', 'http://x.localhost/', 'http://foo.internal/', 'http://rabbitmq/'])
  test(`the name in "${url}" is refused when it is saved, though it does not resolve`, async (t) => {
    t.deepEqual(await checkTarget(url, monitoring, unresolvable), { ok: false, reason: 'private-address' })
  })

test('an integration may use a port below 1024 that is no other service’s, an endpoint of /v1 may not', async (t) => {
  const evaluations = [monitoring, webhooks].map((policy) =>
    checkTarget('https://example.com:444/', policy, resolvesTo('93.184.216.34')),
  )
  t.deepEqual(
    (await Promise.all(evaluations)).map(({ ok }) => ok),
    [true, false],
  )
})

for (const url of [
  'https://example.com/hook?a=b',
  'http://example.com/',
  'https://example.com:8443/',
  'http://8.8.8.8/',
  'https://[2606:4700::1111]/',
])
  test(`the public target ${url} is accepted`, async (t) => {
    const result = await checkTarget(url, monitoring, resolvesTo('93.184.216.34', '2606:2800:220:1::1'))
    t.true(result.ok)
  })

test('a name is refused when one of its several addresses is private', async (t) => {
  const result = await checkTarget('https://example.com/', monitoring, resolvesTo('93.184.216.34', '10.0.0.1'))
  t.deepEqual(result, { ok: false, reason: 'private-address' })
})

test('a name that does not resolve is refused as such', async (t) => {
  t.deepEqual(await checkTarget('https://nowhere.example/', monitoring, unresolvable), {
    ok: false,
    reason: 'unresolvable',
  })
})

test('plain http is refused to the public network where the policy wants TLS', async (t) => {
  const resolve = resolvesTo('93.184.216.34')
  t.deepEqual(await checkTarget('http://example.com/', webhooks, resolve), { ok: false, reason: 'plain-http' })
  t.deepEqual(await checkTarget('http://8.8.8.8/', webhooks, resolve), { ok: false, reason: 'plain-http' })
})

test('a network that the operator named may be reached, with plain http too', async (t) => {
  const policy: TargetPolicy = {
    allowPrivate: ['10.20.0.0/16', '127.0.0.1', 'fd00::/8'],
    plainHttp: 'allowed-networks',
  }
  const accepts = async (url: string, ...addresses: string[]) =>
    (await checkTarget(url, policy, resolvesTo(...addresses))).ok
  t.true(await accepts('http://10.20.1.1:8080/'))
  t.true(await accepts('http://127.0.0.1:9000/'))
  t.true(await accepts('http://[fd00::7]/'))
  t.true(await accepts('http://hooks.internal/', '10.20.0.5'))
  t.false(await accepts('http://127.0.0.2/'))
  t.false(await accepts('http://10.21.0.1/'))
  t.false(await accepts('https://hooks.example.com/', '10.20.0.5', '10.21.0.5'))
  t.false(await accepts('https://hooks.example.com/', '10.20.0.5', '93.184.216.34'))
})

test('every address may be reached when the operator allows all, but schemes and ports still hold', async (t) => {
  const policy: TargetPolicy = { allowPrivate: true, plainHttp: 'allowed-networks' }
  t.true((await checkTarget('http://localhost:9000/', policy, resolvesTo('127.0.0.1'))).ok)
  t.true((await checkTarget('http://[::1]:9000/', policy, unresolvable)).ok)
  t.false((await checkTarget('ftp://localhost/', policy, resolvesTo('127.0.0.1'))).ok)
  t.false((await checkTarget('http://localhost:25/', policy, resolvesTo('127.0.0.1'))).ok)
})

test('a network that cannot be read is an error, never a silent default', async (t) => {
  await t.throwsAsync(
    checkTarget('https://example.com', { ...monitoring, allowPrivate: ['10.0.0.0/99'] }, unresolvable),
  )
})
