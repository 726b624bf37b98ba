import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root, sourcesBelow } from '../support/imports.ts'

test('only shared/time.ts converts microseconds', (t) => {
  const wrong = ['shared', 'workers', 'ingress']
    .flatMap((room) => sourcesBelow(room))
    .filter((file) => file !== 'shared/time.ts')
    .filter((file) => convertsMicros(readFileSync(join(root, file), 'utf8')))
  t.deepEqual(wrong, [])
})

/**
 * Returns true if a source itself converts to or from microseconds: an instant or `now()` divided, milliseconds
 * multiplied into microseconds, a factor of a million. Values of `performance` and `Date` may become seconds.
 */
function convertsMicros(source: string): boolean {
  const code = source.replace(/^\s*(\*|\/\/|\/\*).*$/gm, '')
  return (
    /(?<!Date\.|performance\.)\bnow\(\) \/ 1_?000|\b(at|now|from|until|\w*(At|Micros)) \/ 1_?000/.test(code) ||
    /(getTime\(\)|Date\.now\(\)|performance\.now\(\)|\w(Ms|Millis)) \* 1_?000\b|\b1_?000n\b/.test(code) ||
    /(\w*[sS]econds|SECONDS|\w_SECONDS|At|Micros) [*/] (1_?000_?000\b|1e6\b)|\b86_?400_?000_?000\b/.test(code)
  )
}
