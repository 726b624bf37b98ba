import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { pages } from '../support/doc-blocks.ts'
import { root, sourcesBelow } from '../support/imports.ts'

const folder = join(root, 'docs/adr')
const records = readdirSync(folder).filter((name) => name !== 'README.md')
const numbers = records.map((name) => name.slice(0, 4)).toSorted()

test('decision records are numbered from 0001 without holes', (t) => {
  t.deepEqual(
    numbers,
    numbers.map((_, index) => String(index + 1).padStart(4, '0')),
  )
})

for (const name of records) {
  test(`${name} has the sections of a decision record in at most 40 lines`, (t) => {
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')
    t.true(lines.length <= 40)
    t.regex(lines[0] ?? '', new RegExp(`^# ${name.slice(0, 4)}: `))
    for (const section of ['## Context', '## Decision', '## Consequences']) t.true(lines.includes(section), section)
  })
}

test('the table of decision records links each of them once', (t) => {
  const links = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, it]) => it)
  t.deepEqual(links.toSorted(), records.toSorted())
})

test('every cited decision record exists', (t) => {
  const sources = ['all', 'ingress', 'workers', 'shared', 'migrations', 'stack', 'bench', 'test', 'examples'].flatMap(
    (it) => sourcesBelow(it),
  )
  const cited = [...sources, ...pages(), 'ARCHITECTURE.md', 'CHANGELOG.md'].flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(/docs\/adr\/(\d+)/g)].map(([, number = '']) => ({ file, number }))
  })
  t.true(cited.length > 20)
  t.deepEqual(
    cited.filter(({ number }) => !numbers.includes(number)),
    [],
  )
})

test('relative links of decision records lead to files', (t) => {
  const links = records.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path),
  )
  for (const path of links) t.notThrows(() => readFileSync(join(folder, path)), path)
})
