import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root, sourcesBelow } from '../support/imports.ts'
import { type Finding, findInDocument, findInLines, findInSource } from '../support/language.ts'

const FOLDERS = ['all', 'ingress', 'workers', 'shared', 'migrations', 'stack', 'bench', 'examples', 'test'] as const
/** Scripts, style sheets and configurations, which have comments as well. */
const OTHER_FILES = /\.(css|m?js|ya?ml|sh|cfg|conf|py|go)$/

test('code, tests, pages, documents and configurations use standard terms', (t) => {
  const sources = FOLDERS.flatMap(sourcesBelow)
  const others = [
    ...['.env.example', '.github/workflows/ci.yml', 'Dockerfile', 'Makefile', 'compose.yaml'],
    ...FOLDERS.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => OTHER_FILES.test(name))
        .map((name) => join(folder, name)),
    ),
  ]
  const documents = ['.', 'docs', 'docs/adr', 'docs/spec', 'docs/registries'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  )
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const findings: Finding[] = [
    ...sources.flatMap((file) => findInSource(file, read(file))),
    ...documents.flatMap((file) => findInDocument(file, read(file))),
    ...others.flatMap((file) => findInLines(file, read(file))),
  ]
  const lines = findings.map(({ file, line, word, instead }) => `${file}:${line} ${word} (${instead})`)
  t.deepEqual(lines, [])
})
