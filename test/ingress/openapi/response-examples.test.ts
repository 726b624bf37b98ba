import { writeFile } from 'node:fs/promises'
import test from 'ava'
import stored from '../../../ingress/response-examples.json' with { type: 'json' }
import { recordExamples } from './record-examples.ts'

const file = new URL('../../../ingress/response-examples.json', import.meta.url)

test('stored examples have the members of real responses (WRITE_EXAMPLES=1 stores them)', async (t) => {
  const recorded = await recordExamples()
  if (process.env.WRITE_EXAMPLES) await writeFile(file, `${JSON.stringify(recorded, null, 2)}\n`)
  t.deepEqual(membersOf(process.env.WRITE_EXAMPLES ? recorded : stored), membersOf(recorded))
})

const UUID = /^[0-9a-f-]{36}$/

/** Returns the paths of all members of a value. Items of lists, and members of maps by id, share a path. */
function membersOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  const isList = Array.isArray(value)
  const paths = Object.entries(value).flatMap(([name, inner]) =>
    membersOf(inner, isList ? `${path}[]` : `${path}.${UUID.test(name) ? '*' : name}`),
  )
  return [...new Set(paths)].toSorted()
}
