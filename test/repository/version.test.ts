import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root } from '../support/imports.ts'

const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

/** Files that state the version of the product, each with the pattern of the statement. */
const STATEMENTS: readonly [file: string, pattern: RegExp, count: number][] = [
  // The lock file states it for itself and for its root package.
  ['package-lock.json', /^(?: {6})?(?: {2})?"version": "(.+)"/gm, 2],
  ['CHANGELOG.md', /^## (\S+)/gm, 1],
  ['docs/openapi.json', /^ {4}"version": "(.+)"/gm, 1],
  ['docs/risk-signals.md', /signalbox:(\d\S+)/g, 1],
  ['compose.yaml', /SIGNALBOX_IMAGE:-signalbox:(.+)\}/g, 1],
  ['examples/cluster/compose.yaml', /SIGNALBOX_IMAGE:-signalbox:(.+)\}/g, 1],
  ['examples/kubernetes/base/kustomization.yaml', /newTag: (.+)/g, 1],
]

test('every file states the version of package.json', (t) => {
  const { version } = JSON.parse(textOf('package.json'))
  t.regex(version, /^\d+\.\d+\.\d+$/)
  for (const [file, pattern, count] of STATEMENTS) {
    const stated = [...textOf(file).matchAll(pattern)].slice(0, count).map((match) => match[1])
    t.deepEqual(stated, Array(count).fill(version), file)
  }
})
