import test from 'ava'
import { deflateList } from '#shared/risk/credentials/status-list.ts'
import { eventually } from '../../support/eventually.ts'
import {
  ask,
  attempt,
  client,
  foreign,
  iss,
  issued,
  issuer,
  publish,
  requestCount,
  start,
  stop,
  t0,
  view,
} from './presentation-support.ts'

test.before(start)
test.after.always(stop)

const statuses: [string, string | null, () => Promise<object>][] = [
  ['a valid index', null, async () => ({ uri: await publish('/valid'), idx: 0 })],
  ['a revoked index', 'STATUS_REVOKED', async () => ({ uri: await publish('/revoked'), idx: 1 })],
  ['a suspended index', 'STATUS_SUSPENDED', async () => ({ uri: await publish('/suspended'), idx: 2 })],
  ['a status of the application', 'STATUS_UNAVAILABLE', async () => ({ uri: await publish('/other'), idx: 3 })],
  ['an index past the list', 'STATUS_UNAVAILABLE', async () => ({ uri: await publish('/past'), idx: 99 })],
  [
    'a list of another key',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publish('/foreign', {}, foreign), idx: 0 }),
  ],
  [
    'a list of another address',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publish('/sub', { sub: 'https://x' }), idx: 0 }),
  ],
  [
    'a list of another type',
    'STATUS_UNAVAILABLE',
    async () => ({ uri: await publish('/typ', {}, issuer, 'JWT'), idx: 0 }),
  ],
  ['a list that is over', 'STATUS_UNAVAILABLE', async () => ({ uri: await publish('/exp', { exp: t0 - 5 }), idx: 0 })],
  ['a list on a private address', 'STATUS_UNAVAILABLE', async () => ({ uri: 'https://10.0.0.1/list', idx: 0 })],
  ['a list over plain http', 'STATUS_UNAVAILABLE', async () => ({ uri: iss.replace('https', 'http'), idx: 0 })],
  ['a list that is not there', 'STATUS_UNAVAILABLE', async () => ({ uri: `${iss}/missing`, idx: 0 })],
  [
    'a list that inflates to more than 16 MiB',
    'STATUS_UNAVAILABLE',
    async () => ({
      uri: await publish('/bomb', {
        status_list: { bits: 1, lst: await deflateList(8 * 1024 * 1024 * 40, 1, new Map()) },
      }),
      idx: 0,
    }),
  ],
]

for (const [what, reason, status] of statuses)
  test.serial(`${what} of a status list is ${reason ?? 'verified'}`, async (t) => {
    const requested = await ask(client)
    const credential = await issued({ status: { status_list: await status() } })
    t.is((await attempt(requested, { credential })).status, reason === null ? 200 : 400)
    t.like((await view(client, requested)).json, reason === null ? { state: 'VERIFIED' } : { reasons: [reason] })
  })

test.serial('a list is fetched once while it is valid, and three times if its server fails', async (t) => {
  const uri = await publish('/held')
  for (const idx of [0, 1, 0]) {
    const credential = await issued({ status: { status_list: { uri, idx } } })
    t.is((await attempt(await ask(client), { credential })).status, idx === 0 ? 200 : 400)
  }
  t.is(requestCount('/held'), 1)
  const requested = await ask(client)
  const credential = await issued({ status: { status_list: { uri: `${iss}/failing`, idx: 0 } } })
  // Three tries take four of the ten seconds that a wallet is kept waiting.
  const since = performance.now()
  const { status } = await attempt(requested, { credential })
  t.true(status === 400 || (status === 200 && performance.now() - since > 9_000), `${status}`)
  const { reasons } = await eventually('its refusal', async () => {
    const { json } = await view(client, requested)
    return json.state === 'REQUEST_FETCHED' && json.reasons?.length > 0 && json
  })
  t.deepEqual(reasons, ['STATUS_UNAVAILABLE'])
  t.is(requestCount('/failing'), 3)
})
