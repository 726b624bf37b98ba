import { existsSync } from 'node:fs'
import test from 'ava'
import { FAULT_GROUPS } from './groups.ts'

test('each file of a group exists and belongs to one group', (t) => {
  const files = FAULT_GROUPS.flat()
  t.deepEqual(
    files.filter((file) => !existsSync(file)),
    [],
  )
  t.is(new Set(files).size, files.length)
})
