import test from 'ava'
import { countTests } from '../support/count-tests.ts'

test('the total is taken from the report when all passed', (t) => {
  t.deepEqual(countTests('\n  ✔ a › b\n  ✔ a › c (1s)\n  ─\n\n  2 tests passed\n', 0), { passed: 2, failed: 0 })
})

test('one test is a test too, and colours do not matter', (t) => {
  t.deepEqual(countTests('\n  \u001b[32m1 test passed\u001b[39m\n', 0), { passed: 1, failed: 0 })
})

test('ticks are counted when something failed, since the report then names no total', (t) => {
  const report = '  ✔ a › b\n  ✘ [fail]: a › c\n  ─\n\n  1 test failed\n  1 uncaught exception\n'
  t.deepEqual(countTests(report, 1), { passed: 1, failed: 2 })
})

test('a run that fails for a reason of its own counts as one failure', (t) => {
  t.deepEqual(countTests('  ✘ No tests found in x.test.ts\n', 1), { passed: 0, failed: 1 })
})
