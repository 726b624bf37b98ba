import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { jsonObjectTexts, textPieces } from '../../ingress/text-pieces.ts'

test('an object in pieces is the same JSON as at once', (t) => {
  const object = { a: 1, b: [], c: [{ d: 'x\ny', e: [1, 2] }, 'z', null], f: { g: { h: true } }, i: 'ü"' }
  for (const value of [object, {}, { a: [[]] }]) {
    t.is([...jsonObjectTexts(value)].join(''), JSON.stringify(value))
    t.is([...jsonObjectTexts(value, '  ')].join(''), JSON.stringify(value, null, 2))
  }
})

test('texts that take long to create let the event loop run between them', async (t) => {
  function* slowTexts() {
    for (let n = 0; n < 60; n++) {
      const until = performance.now() + 1
      while (performance.now() < until);
      yield 'x'
    }
  }
  let iterations = 0
  let isDone = false
  const counting = (async () => {
    for (; !isDone; iterations++) await setImmediate()
  })()
  t.is(Buffer.concat(await textPieces(slowTexts())).toString(), 'x'.repeat(60))
  isDone = true
  await counting
  t.true(iterations > 2, `${iterations} iterations`)
})
