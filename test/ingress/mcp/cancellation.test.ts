import test from 'ava'
import { type CancellableCalls, followMessage } from '../../../ingress/mcp/cancellation.ts'

const call = (id: string | number) => ({ method: 'tools/call', id })
const cancel = (requestId: unknown) => ({ method: 'notifications/cancelled', params: { requestId } })

test('a message cancels only the call with the same key, address and id', (t) => {
  const calls: CancellableCalls = new Map()
  using one = followMessage(call(1), 'key address', calls)
  using text = followMessage(call('1'), 'key address', calls)
  using other = followMessage(call(2), 'key address', calls)
  using stranger = followMessage(call(1), 'another address', calls)
  for (const requestId of [3, null, {}, [1], undefined]) followMessage(cancel(requestId), 'key address', calls)
  t.false(one.signal.aborted)
  followMessage(cancel(1), 'key address', calls)
  t.deepEqual(
    [one, text, other, stranger].map(({ signal }) => signal.aborted),
    [true, false, false, false],
  )
})

test('calls with the same id are not cancelled, and ended calls are removed', (t) => {
  const calls: CancellableCalls = new Map()
  const first = followMessage(call(0), 'key', calls)
  {
    using second = followMessage(call(0), 'key', calls)
    followMessage(cancel(0), 'key', calls)
    t.deepEqual([first.signal.aborted, second.signal.aborted], [false, false])
  }
  followMessage(cancel(0), 'key', calls)
  t.true(first.signal.aborted)
  first[Symbol.dispose]()
  t.is(calls.size, 0)
})
