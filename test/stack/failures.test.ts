import test from 'ava'
import { failuresOf, flakyLines } from '../support/failures.ts'
import { progressOf } from '../support/progress-record.ts'

const progress = progressOf(
  1,
  [
    { at: 1, event: 'file', file: 'test/a.test.ts' },
    { at: 2, event: 'start', title: 'one' },
    { at: 3, event: 'end', title: 'one', passed: true },
    { at: 4, event: 'start', title: 'two' },
    { at: 5, event: 'end', title: 'two', passed: false },
    { at: 6, event: 'start', title: 'three' },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join(''),
)

test('tests that ended badly or never are failures, and so is what AVA says of hooks and processes', (t) => {
  const report = [
    '  ✔ a › one',
    '  ✘ [fail]: a › two it was 7',
    '  ✘ [fail]: b › before hook Rejected promise returned by test',
    '  ✘ c.test.ts exited due to SIGKILL',
  ].join('\n')
  t.deepEqual(failuresOf([progress], report), [
    { file: 'test/a.test.ts', title: 'two' },
    { file: 'test/a.test.ts', title: 'three' },
    { file: '', title: '[fail]: b › before hook Rejected promise returned by test' },
    { file: '', title: 'c.test.ts exited due to SIGKILL' },
  ])
  t.deepEqual(failuresOf([], '  ✔ a › one\n  1 test passed\n'), [])
})

test('the failures of several runs are counted once a run, the most frequent first', (t) => {
  const rare = { file: 'a.test.ts', title: 'rare' }
  const often = { file: 'a.test.ts', title: 'often' }
  t.deepEqual(flakyLines([[rare, often, often], [often], []]), [
    '2 of 3  a.test.ts › often',
    '1 of 3  a.test.ts › rare',
  ])
  t.deepEqual(flakyLines([[], []]), [])
})
