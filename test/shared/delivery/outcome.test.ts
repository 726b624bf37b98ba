import test from 'ava'
import { outcomeOfStatus, permanent, temporary } from '#shared/delivery/outcome.ts'

for (const status of [200, 201, 202, 204])
  test(`status ${status} counts as delivered`, (t) => {
    t.is(outcomeOfStatus(status).result, 'delivered')
  })

for (const status of [203, 206, 301, 302, 400, 401, 404, 410, 429, 500, 503])
  test(`status ${status} is a temporary failure with the status in its text`, (t) => {
    t.like(outcomeOfStatus(status, 7), {
      result: 'temporary',
      error: `Received status code ${status}`,
      failure: 'status',
      retryAfterSeconds: 7,
      final: false,
    })
  })

test('the error of an outcome is one line of at most 200 characters', (t) => {
  t.is(temporary('a\r\nb\tc', { failure: 'refused' }).error, 'a b c')
  t.is([...permanent('ü'.repeat(300), { failure: 'refused' }).error].length, 200)
})

test('a permanent failure is final', (t) => {
  t.true(permanent('gone', { failure: 'status' }).final)
})
