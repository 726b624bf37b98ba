import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root, sourcesBelow } from '../support/imports.ts'
import { type Finding, findInDocument, findInSource } from '../support/language.ts'

test('code, tests, pages and documents use standard terms', (t) => {
  const sources = ['all', 'ingress', 'workers', 'shared', 'migrations', 'stack', 'bench', 'examples', 'test'].flatMap(
    (folder) => sourcesBelow(folder),
  )
  const documents = ['.', 'docs', 'docs/adr', 'docs/spec', 'docs/registries'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  )
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const findings: Finding[] = [
    ...sources.flatMap((file) => findInSource(file, read(file))),
    ...documents.flatMap((file) => findInDocument(file, read(file))),
  ]
  const lines = findings.map(({ file, line, word, instead }) => `${file}:${line} ${word} (${instead})`)
  t.deepEqual(lines, [])
})
