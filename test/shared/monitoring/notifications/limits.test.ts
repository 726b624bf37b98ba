import test from 'ava'
import {
  checkRecipientLimit,
  hasRecipientLimit,
  monthlyLimitExceeded,
  monthlyMeterOf,
  monthStart,
} from '#shared/monitoring/notifications/limits.ts'

for (const kind of ['ntfy', 'telegram', 'po', 'signal'])
  test(`limits a recipient of ${kind} to six messages per minute`, (t) => {
    t.true(hasRecipientLimit(kind))
    t.is(checkRecipientLimit(kind, 5), null)
    t.like(checkRecipientLimit(kind, 6), {
      result: 'temporary',
      error: 'Rate limit exceeded',
      final: false,
      retryAfterSeconds: 60,
    })
  })

test('limits an address to thirty mails per minute', (t) => {
  t.is(checkRecipientLimit('email', 29), null)
  t.like(checkRecipientLimit('email', 30), { result: 'temporary', final: false, retryAfterSeconds: 60 })
})

test('other kinds have no limit per recipient', (t) => {
  t.false(hasRecipientLimit('webhook'))
  t.is(checkRecipientLimit('webhook', 1_000_000), null)
})

for (const [kind, meter, error] of [
  ['sms', 'sms', 'Monthly SMS limit exceeded'],
  ['whatsapp', 'sms', 'Monthly message limit exceeded'],
  ['call', 'call', 'Monthly phone call limit exceeded'],
] as const)
  test(`${kind} counts under ${meter} and its monthly limit does not disable it`, (t) => {
    t.is(monthlyMeterOf(kind), meter)
    t.like(monthlyLimitExceeded(kind), { result: 'temporary', error, final: true })
  })

test('kinds without costs have no monthly counter', (t) => {
  t.is(monthlyMeterOf('email'), null)
})

test('a month begins at midnight UTC', (t) => {
  t.is(monthStart(Date.UTC(2026, 1, 28, 23, 59, 59) * 1000), Date.UTC(2026, 1, 1) * 1000)
})
