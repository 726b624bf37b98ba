import test from 'ava'
import { jsonObjectTexts } from '../../ingress/text-pieces.ts'

test('an object in pieces is the same JSON as at once', (t) => {
  const object = { a: 1, b: [], c: [{ d: 'x\ny', e: [1, 2] }, 'z', null], f: { g: { h: true } }, i: 'ü"' }
  for (const value of [object, {}, { a: [[]] }]) {
    t.is([...jsonObjectTexts(value)].join(''), JSON.stringify(value))
    t.is([...jsonObjectTexts(value, '  ')].join(''), JSON.stringify(value, null, 2))
  }
})
