import test from 'ava'
import type { Progress } from '../support/progress-record.ts'
import { afterSecondTry, filesToTryAgain } from '../support/second-try.ts'

const FILES = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `test/${name}.test.ts`)
const [A = '', B = ''] = FILES

test('the files of a few failures run again, each once; also one whose process died', (t) => {
  const failures = [
    { file: B, title: 'two' },
    { file: B, title: 'three' },
    { file: '', title: `${A} exited due to SIGKILL` },
  ]
  t.deepEqual(filesToTryAgain(failures, FILES), [A, B])
  t.deepEqual(filesToTryAgain([], FILES), [])
})

test('nothing runs again when many files failed, or something that belongs to no file', (t) => {
  t.deepEqual(
    filesToTryAgain(
      FILES.map((file) => ({ file, title: 'one' })),
      FILES,
    ),
    [],
  )
  const failures = [
    { file: A, title: 'one' },
    { file: '', title: 'something else' },
  ]
  t.deepEqual(filesToTryAgain(failures, FILES), [])
})

function record(file: string, ended: Progress['ended']): Progress {
  return { pid: 1, file, startedAt: 1, progressAt: 1, running: [], ended }
}

test('files count as their second try found them, and what passed then is named', (t) => {
  const failure = { file: A, title: 'two' }
  const first = {
    count: { passed: 11, failed: 1 },
    failures: [failure],
    records: [
      record(A, [
        { title: 'one', passed: true },
        { title: 'two', passed: false },
      ]),
      record(B, [{ title: 'one', passed: true }]),
    ],
  }
  const passing = record(A, [
    { title: 'one', passed: true },
    { title: 'two', passed: true },
  ])
  const green = { count: { passed: 2, failed: 0 }, failures: [], records: [passing] }
  t.deepEqual(afterSecondTry(first, green), { count: { passed: 12, failed: 0 }, unsteady: [failure] })
  const red = { count: { passed: 1, failed: 1 }, failures: [failure], records: [passing] }
  t.deepEqual(afterSecondTry(first, red), { count: { passed: 11, failed: 1 }, unsteady: [] })
})
