import test from 'ava'
import { z } from 'zod'
import { answerTo, evidenceOf, replayed, sampleOf, samplesOf } from './registry-gateway-samples.ts'

const envelope = z.looseObject({ upstream: z.array(z.object({ sha256: z.string() })) })

for (const provider of ['gleif', 'sandbox', 'companies-house', 'setu']) {
  test(`${provider}: each sample gives its provider calls and its answer`, async (t) => {
    for (const sample of samplesOf(provider)) {
      const name = `${provider}/${sample.case}`
      const { composition, differences, faults } = replayed(sample)
      const answer = await answerTo(sample, composition)
      t.deepEqual([differences, faults], [[], []], name)
      t.is(answer.status, sample.expect.status, name)
      for (const [header, value] of Object.entries(sample.expect.headers ?? {}))
        t.is(answer.headers[header], value, name)
      if (sample.expect.bodyText !== undefined) {
        t.is(answer.body.toString(), sample.expect.bodyText, name)
        continue
      }
      const body: unknown = JSON.parse(answer.body.toString())
      if (answer.status !== 200 || sample.request.path.startsWith('/lei-records')) {
        t.deepEqual(body, sample.expect.body, name)
        continue
      }
      const { upstream, ...rest } = envelope.parse(body)
      t.deepEqual(rest, sample.expect.body, name)
      const hashes = upstream.map(({ sha256 }) => sha256)
      t.deepEqual(hashes, evidenceOf(sample), name)
    }
  })
}

test('a final answer is repeated with the same bytes and without a provider call', async (t) => {
  for (const [provider, name] of [
    ['sandbox', 'good'],
    ['sandbox', 'not-found'],
    ['setu', 'good'],
  ] as const) {
    const sample = sampleOf(provider, name)
    const { composition, differences } = replayed(sample)
    const first = await answerTo(sample, composition)
    // A call that is not recorded would be a fault.
    t.true((await answerTo(sample, composition)).body.equals(first.body))
    t.deepEqual(differences, [])
  }
})

test('equal requests at once share one provider call', async (t) => {
  const sample = sampleOf('sandbox', 'good')
  const { composition, differences } = replayed(sample)
  const [first, second] = await Promise.all([answerTo(sample, composition), answerTo(sample, composition)])
  t.deepEqual(first.body, second.body)
  t.deepEqual(differences, [])
})

test('after a 429 of the provider no call is made until its Retry-After', async (t) => {
  const sample = sampleOf('gleif', 'rate-limited')
  const good = sampleOf('gleif', 'good')
  const { composition, clock, faults } = replayed({ ...sample, exchanges: [...sample.exchanges, ...good.exchanges] })
  t.is((await answerTo(sample, composition, 'first')).headers['retry-after'], '30')
  clock.nowMs += 10_000
  const early = await answerTo(sample, composition, 'second')
  t.deepEqual([early.status, early.headers['retry-after']], [429, '20'])
  clock.nowMs += 20_000
  t.is((await answerTo(good, composition, 'third')).status, 200)
  t.deepEqual(faults, [])
})
