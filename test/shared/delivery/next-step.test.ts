import test from 'ava'
import { nextStep } from '#shared/delivery/next-step.ts'
import { delivered, permanent, temporary } from '#shared/delivery/outcome.ts'
import { notificationRetries } from '#shared/delivery/retry-schedule.ts'

const busy = temporary('Received status code 503', { failure: 'status' })
const waiting = temporary('Received status code 429', { failure: 'status', retryAfterSeconds: 90 })
const overLimit = temporary('Monthly SMS limit exceeded', { failure: 'limit', final: true })

for (const [what, outcome, attempts, expected] of [
  ['what was delivered is done', delivered, 1, { step: 'done' }],
  ['a temporary failure is tried again', busy, 1, { step: 'retry', delayMs: 5_000 }],
  ['a wait that was asked for is kept', waiting, 1, { step: 'retry', delayMs: 90_000 }],
  ['the seventh failure is the last', busy, 7, { step: 'give-up' }],
  ['what no retry mends is given up at once', overLimit, 1, { step: 'give-up' }],
  ['a permanent failure disables', permanent('gone', { failure: 'status' }), 1, { step: 'disable' }],
] as const)
  test(what, (t) => {
    t.deepEqual(nextStep(notificationRetries, outcome, attempts, 0.5), expected)
  })
