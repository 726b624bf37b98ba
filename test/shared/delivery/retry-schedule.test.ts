import test from 'ava'
import {
  notificationRetries,
  parseRetryAfter,
  type RetryPolicy,
  retryDelayMs,
  webhookRetries,
} from '#shared/delivery/retry-schedule.ts'

const delays = (policy: RetryPolicy, random: number) =>
  Array.from({ length: policy.delaysSeconds.length + 1 }, (_, i) =>
    retryDelayMs(policy, { attempts: i + 1, retryAfterSeconds: null, random }),
  )
const hours = (policy: RetryPolicy) => policy.delaysSeconds.reduce((sum, seconds) => sum + seconds, 0) / 3600

test('a webhook is attempted ten times over about 76 hours', (t) => {
  t.deepEqual(
    delays(webhookRetries, 0.5).map((ms) => ms && ms / 1000),
    [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, null],
  )
  t.is(Math.round(hours(webhookRetries)), 76)
})

test('a notification is attempted seven times, five of them within 15 minutes', (t) => {
  t.deepEqual(delays(notificationRetries, 0.5), [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, null])
})

test('jitter changes a delay by at most a fifth', (t) => {
  t.is(retryDelayMs(webhookRetries, { attempts: 2, retryAfterSeconds: null, random: 0 }), 240_000)
  t.is(retryDelayMs(webhookRetries, { attempts: 2, retryAfterSeconds: null, random: 0.999_999_999 }), 360_000)
})

for (const [name, policy, attempts, retryAfterSeconds, expected] of [
  ['lengthens a delay', webhookRetries, 1, 3600, 3_600_000],
  ['never shortens a delay', webhookRetries, 3, 1, 1_800_000],
  ['is limited to 24 hours for webhooks', webhookRetries, 1, 10_000_000, 86_400_000],
  ['is limited to one hour for notifications', notificationRetries, 1, 7200, 3_600_000],
  ['adds no attempts', webhookRetries, 10, 60, null],
] as const)
  test(`Retry-After ${name}`, (t) => {
    t.is(retryDelayMs(policy, { attempts, retryAfterSeconds, random: 0.5 }), expected)
  })

const noon = Date.parse('2026-01-01T12:00:00Z')
for (const [header, seconds] of [
  ['120', 120],
  [' 0 ', 0],
  ['Thu, 01 Jan 2026 12:01:30 GMT', 90],
  ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
  ['Thursday, 01-Jan-26 12:01:30 GMT', 90],
  ['Thursday, 01-Jan-76 12:00:00 GMT', 86_400],
  ['Saturday, 01-Jan-77 12:00:00 GMT', 0],
  ['Thu Jan  1 12:01:30 2026', 90],
  ['Thu Jan 01 12:01:30 2026', 90],
  ['Fri, 01 Jan 2027 12:00:00 GMT', 86_400],
  ['31536000000', 86_400],
  ['9'.repeat(400), 86_400],
  ['Thu, 32 Jan 2026 12:01:30 GMT', null],
  ['Thu, 01 Foo 2026 12:01:30 GMT', null],
  ['Thu, 01 Jan 2026 12:01:30 CET', null],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['2026', 2026],
  ['', null],
  [undefined, null],
] as const)
  test(`Retry-After: ${String(header).slice(0, 40)} means ${String(seconds)} seconds`, (t) => {
    t.is(parseRetryAfter(header, noon), seconds)
  })
