import test from 'ava'
import { nextNotification, outlookOf } from '#shared/monitoring/alerting/next-notification.ts'
import { IMPLICIT_PLAN, type Plan, type Step } from '#shared/monitoring/alerting/policy.ts'
import { microsOfSeconds } from '#shared/time.ts'

const NOON = microsOfSeconds(1_763_899_200)
const [STEP] = IMPLICIT_PLAN.steps as [Step]

const planOf = (...steps: Partial<Step>[]): Plan => ({
  ...IMPLICIT_PLAN,
  steps: steps.map((step) => ({ ...STEP, ...step })),
})

const open = {
  state: 'alerting',
  alertAt: NOON,
  notified: [1, 0],
  skips: [],
  suppression: null,
  severity: 'critical',
  exhaustedAt: null,
  isExhausted: false,
} as const

/** Returns seconds after noon, integrations and if it is a repeat. */
function nextOf(plan: Plan, incident: Partial<Parameters<typeof nextNotification>[0]> = {}) {
  const next = nextNotification({ ...open, ...incident }, plan)
  return next && [(next.at - NOON) / microsOfSeconds(1), next.integrations, next.isRepeat]
}

test('the next notification is the earliest entry that was not sent', (t) => {
  const plan = planOf({ wait: 0, repeat: { every: 3600, times: 2 } }, { wait: 900, channels: ['phone'] })
  t.deepEqual(nextOf(plan), [900, ['phone'], false])
  t.deepEqual(nextOf(plan, { notified: [1, 1] }), [3600, [null], true])
  t.deepEqual(nextOf(plan, { notified: [3, 1] }), null, 'everything was sent')
  t.deepEqual(nextOf(plan, { skips: [0, microsOfSeconds(300)] }), [600, ['phone'], false], 'a wait was skipped in part')
  t.deepEqual(
    nextOf(plan, { notified: [1, 1], skips: [0, microsOfSeconds(300)] }),
    [3600, [null], true],
    'no repeat before it',
  )
  const both = planOf({ repeat: { every: 900, times: null } }, { wait: 900, channels: ['phone'] })
  t.deepEqual(nextOf(both), [900, [null, 'phone'], false])
})

test('low severity, suppression and acknowledgement leave no next notification', (t) => {
  const plan = planOf({}, { wait: 900, severity: 'critical' })
  t.deepEqual(nextOf(plan, { severity: 'warning' }), null)
  t.deepEqual(nextOf(plan, { suppression: 'MAINTENANCE' }), null)
  t.deepEqual(nextOf(plan, { suppression: 'GROUPING', notified: [0, 0] }), [0, [null], false])
  t.deepEqual(nextOf(plan, { state: 'acknowledged' }), null)
  t.deepEqual(nextOf(plan, { state: 'waiting', alertAt: null }), null)
})

test('the next notification outside the hours waits for them or is skipped', (t) => {
  const hours = [{ every: '0 14 * * *', for: 3600, tz: 'UTC' }]
  const repeat = { every: 5400, times: null }
  t.deepEqual(nextOf(planOf({}, { wait: 900, hours, outside: 'wait' })), [7200, [null], false])
  t.deepEqual(nextOf(planOf({}, { wait: 900, hours, outside: 'skip' })), null)
  t.deepEqual(nextOf(planOf({}, { wait: 3600, hours, repeat, outside: 'skip' })), [9000, [null], true])
})

test('after the last entry only the fallback and personal rules follow', (t) => {
  const sent = { ...open, notified: [1], isDirect: false, ackUntil: null, nextAt: null }
  const done = { ...sent, exhaustedAt: NOON, isExhausted: true }
  const fallback = { wait: 600, people: [{ person: 'boss@example.org' }], channels: [] }
  const plan = { ...planOf({}), fallback }
  const at = NOON + microsOfSeconds(600)
  t.like(outlookOf({ ...done, isExhausted: false }, plan, null), { kind: 'next', at, people: fallback.people })
  t.deepEqual(outlookOf(done, plan, null), { kind: 'exhausted' })
  t.deepEqual(outlookOf({ ...sent, nextAt: at }, plan, null), { kind: 'personal', at })
  t.deepEqual(outlookOf({ ...sent, isDirect: true }, null, null), { kind: 'exhausted' })
  t.deepEqual(outlookOf({ ...sent, nextAt: at }, planOf({}), null), { kind: 'personal', at }, 'after an assignment')
  const window = { isMute: true, until: at + 1 }
  t.deepEqual(outlookOf({ ...sent, isDirect: true }, null, window), { kind: 'silent', ...window })
  t.is(outlookOf({ ...done, isExhausted: false }, plan, { ...window, until: at }).kind, 'next')
  t.deepEqual(outlookOf({ ...done, suppression: 'MERGED' }, plan, window), { kind: 'suppressed', reason: 'MERGED' })
  t.deepEqual(outlookOf({ ...done, suppression: 'MAINTENANCE' }, plan, window), { kind: 'silent', ...window })
})
