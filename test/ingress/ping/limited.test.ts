import test from 'ava'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { openProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { aPingedProject } from './listeners.ts'

test('pings beyond the rate limit of their check are counted, though a ping by uuid is answered OK', async (t) => {
  // A clock that stands still gives nothing back: exactly two pass.
  const now = 1_700_000_000_000_000
  await using app = await openProduct({
    listener: 'http',
    env: { PING_RATE_LIMIT_PER_MINUTE: '2' },
    override: { now: () => now, metrics: createMetrics() },
  })
  const { uuid, pingKey, recorded } = await aPingedProject(app)
  const texts = []
  for (const path of [uuid, uuid, uuid, `${uuid}/fail`, `${pingKey}/job`]) {
    const { status, text } = await send(app.url, `/ping/${path}`)
    texts.push(`${status} ${text}`)
  }
  t.deepEqual(texts, ['200 OK', '200 OK', '200 OK (rate limited)', '200 OK (rate limited)', '429 rate limited'])
  const exposed = await app.deps.metrics.registry.metrics()
  t.regex(exposed, /^signalbox_pings_refused_total\{status="limited"\} 3$/m)
  t.regex(exposed, /^signalbox_pings_accepted_total 2$/m)
  t.is((await recorded()).length, 2)
})
