import test from 'ava'
import {
  checkRecipientLimit,
  hasRecipientLimit,
  monthlyLimitExceeded,
  monthlyMeterOf,
  monthStart,
} from '#shared/monitoring/notifications/limits.ts'

for (const kind of ['ntfy', 'telegram', 'po', 'signal'])
  test(`a recipient of ${kind} gets six messages a minute, the seventh waits`, (t) => {
    t.true(hasRecipientLimit(kind))
    t.is(checkRecipientLimit(kind, 5), null)
    t.like(checkRecipientLimit(kind, 6), {
      result: 'temporary',
      error: 'Rate limit exceeded',
      final: false,
      retryAfterSeconds: 60,
    })
  })

test('an address gets thirty mails a minute, the next one waits', (t) => {
  t.is(checkRecipientLimit('email', 29), null)
  t.like(checkRecipientLimit('email', 30), { result: 'temporary', final: false, retryAfterSeconds: 60 })
})

test('other kinds have no such limit', (t) => {
  t.false(hasRecipientLimit('webhook'))
  t.is(checkRecipientLimit('webhook', 1_000_000), null)
})

for (const [kind, meter, error] of [
  ['sms', 'sms', 'Monthly SMS limit exceeded'],
  ['whatsapp', 'sms', 'Monthly message limit exceeded'],
  ['call', 'call', 'Monthly phone call limit exceeded'],
] as const)
  test(`${kind} is counted under ${meter} and stops at the monthly limit without being disabled`, (t) => {
    t.is(monthlyMeterOf(kind), meter)
    t.like(monthlyLimitExceeded(kind), { result: 'temporary', error, final: true })
  })

test('kinds that cost nothing are not counted', (t) => {
  t.is(monthlyMeterOf('email'), null)
})

test('a month begins at midnight UTC', (t) => {
  t.is(monthStart(Date.UTC(2026, 1, 28, 23, 59, 59) * 1000), Date.UTC(2026, 1, 1) * 1000)
})
