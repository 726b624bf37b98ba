import test from 'ava'
import { deflateList } from '#shared/risk/credentials/status-list.ts'
import { respellSignature } from '../../support/base64url.ts'
import { eventually } from '../../support/eventually.ts'
import { answerOf, post, resolveRequest } from '../../support/test-wallet.ts'
import {
  client,
  iss,
  issuer,
  newCredential,
  nowSeconds,
  otherKeyPair,
  publishStatusList,
  readPresentation,
  requestCount,
  requestPresentation,
  start,
  stop,
  submitPresentation,
} from './presentation-support.ts'

test.before(start)
test.after.always(stop)

const statuses: [string, string | null, () => Promise<object>][] = [
  ['a valid index', null, async () => ({ uri: await publishStatusList('/valid'), idx: 0 })],
  ['a revoked index', 'STATUS_REVOKED', async () => ({ uri: await publishStatusList('/revoked'), idx: 1 })],
  ['a suspended index', 'STATUS_SUSPENDED', async () => ({ uri: await publishStatusList('/suspended'), idx: 2 })],
  [
    'an application-specific status',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publishStatusList('/other'), idx: 3 }),
  ],
  [
    'an index beyond the status list',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publishStatusList('/past'), idx: 99 }),
  ],
  [
    'a status list signed by another key',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publishStatusList('/foreign', {}, otherKeyPair), idx: 0 }),
  ],
  [
    'a status list of another URL',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publishStatusList('/sub', { sub: 'https://x' }), idx: 0 }),
  ],
  [
    'a status list of another type',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publishStatusList('/typ', {}, issuer, 'JWT'), idx: 0 }),
  ],
  [
    'an expired status list',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publishStatusList('/exp', { exp: nowSeconds - 5 }), idx: 0 }),
  ],
  ['a status list at a private address', 'STATUS_UNAVAILABLE', async () => ({ uri: 'https://10.0.0.1/list', idx: 0 })],
  ['a status list over plain HTTP', 'STATUS_UNAVAILABLE', async () => ({ uri: iss.replace('https', 'http'), idx: 0 })],
  ['a missing status list', 'STATUS_UNAVAILABLE', async () => ({ uri: `${iss}/missing`, idx: 0 })],
  [
    'a status list that inflates to more than 16 MiB',
    'STATUS_UNAVAILABLE',
    async () => ({
      uri: await publishStatusList('/bomb', {
        status_list: { bits: 1, lst: await deflateList(8 * 1024 * 1024 * 40, 1, new Map()) },
      }),
      idx: 0,
    }),
  ],
]

for (const [status, reason, reference] of statuses)
  test.serial(
    `${reason === null ? 'verifies' : 'refuses'} a credential with ${status}${reason === null ? '' : `: ${reason}`}`,
    async (t) => {
      const requested = await requestPresentation(client)
      const credential = await newCredential({ status: { status_list: await reference() } })
      t.is((await submitPresentation(requested, { credential })).status, reason === null ? 200 : 400)
      t.like(
        (await readPresentation(client, requested)).json,
        reason === null ? { state: 'VERIFIED' } : { reasons: [reason] },
      )
    },
  )

test.serial('a valid status list is fetched once, and a failing server is queried three times', async (t) => {
  const uri = await publishStatusList('/held')
  for (const idx of [0, 1, 0]) {
    const credential = await newCredential({ status: { status_list: { uri, idx } } })
    t.is((await submitPresentation(await requestPresentation(client), { credential })).status, idx === 0 ? 200 : 400)
  }
  t.is(requestCount('/held'), 1)
  const requested = await requestPresentation(client)
  const credential = await newCredential({ status: { status_list: { uri: `${iss}/failing`, idx: 0 } } })
  // Three attempts take four of the ten seconds in which a wallet waits.
  const since = performance.now()
  const { status } = await submitPresentation(requested, { credential })
  t.true(status === 400 || (status === 200 && performance.now() - since > 9_000), `${status}`)
  const { reasons } = await eventually('its refusal', async () => {
    const { json } = await readPresentation(client, requested)
    return json.state === 'REQUEST_FETCHED' && json.reasons?.length > 0 && json
  })
  t.deepEqual(reasons, ['STATUS_UNAVAILABLE'])
  t.is(requestCount('/failing'), 3)
})

test.serial('direct_post.jwt refuses plain text and encryption to another key', async (t) => {
  const requested = await requestPresentation(client, { responseMode: 'direct_post.jwt' })
  const request = await resolveRequest(requested.json.authorizationRequest)
  const plain = new URLSearchParams({ state: request.state, vp_token: '{}' })
  t.is((await post(request.responseUri, plain)).status, 400)
  t.deepEqual((await readPresentation(client, requested)).json.reasons, ['ENCRYPTION_REQUIRED'])
  const second = await requestPresentation(client, { responseMode: 'direct_post.jwt' })
  const other = await resolveRequest(second.json.authorizationRequest)
  const { form } = await answerOf(other, { company: ['x'] })
  t.is((await post(request.responseUri, form)).status, 400)
  t.deepEqual((await readPresentation(client, requested)).json.reasons, ['DECRYPT_FAILED'])
  form.set('response', respellSignature(form.get('response') ?? ''))
  t.is((await post(other.responseUri, form)).status, 400)
  t.deepEqual((await readPresentation(client, second)).json.reasons, ['DECRYPT_FAILED'], 'another spelling')
})
