import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { pages } from '../support/doc-blocks.ts'
import { root } from '../support/imports.ts'

const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'docs/add-an-integration.md',
  'docs/asvs.md',
  'docs/stability.md',
  'docs/testing.md',
  'docs/glossary.md',
]

for (const document of documents) {
  test(`every path that ${document} names exists`, (t) => {
    const paths = [
      ...textOf(document).matchAll(
        /`((?:ingress|workers|shared|migrations|test|stack|bench|docs|examples)\/[\w./-]*)`/g,
      ),
    ]
    const missing = paths.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)))
    t.deepEqual(missing, [])
  })
}

test('every table that ARCHITECTURE.md names is created by a migration', (t) => {
  const [, section = ''] = textOf('ARCHITECTURE.md').split(/^## Data$/m)
  const [tables = ''] = section.split(/^## /m)
  const named = [...tables.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  const migrations = readdirSync(join(root, 'migrations')).map((name) => textOf(join('migrations', name)))
  const created = migrations.flatMap((text) => [...text.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+)/g)])
  const existing = new Set(created.map(([, name]) => name))
  t.true(named.length > 50)
  t.deepEqual(
    named.filter((name) => !existing.has(name)),
    [],
  )
})

test('ARCHITECTURE.md names every worker', (t) => {
  const text = textOf('ARCHITECTURE.md')
  const folders = readdirSync(join(root, 'workers')).filter((name) =>
    existsSync(join(root, 'workers', name, `${name}.ts`)),
  )
  t.true(folders.length > 10)
  t.deepEqual(
    folders.filter((name) => !text.includes(name)),
    [],
  )
})

test('the glossary defines each term once, sorted, in one sentence', (t) => {
  const rows = [...textOf('docs/glossary.md').matchAll(/^\| (.+?) \| ([MR]?) ?\| (.+) \|$/gm)].slice(1)
  const terms = rows.map(([, term = '']) => term.toLowerCase())
  t.true(terms.length > 100)
  t.deepEqual(terms, [...new Set(terms)].sort())
  const wrong = rows.filter(([, , , meaning = '']) => !/^[A-Z][^.]*\.$/.test(meaning.replace(/`[^`]*`/g, '')))
  t.deepEqual(
    wrong.map(([, term]) => term),
    [],
  )
})

/** Returns the text outside of code blocks. */
const proseOf = (page: string) => textOf(page).replace(/^( *)```[\s\S]*?^\1```$/gm, '')

function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('relative links of documents lead to files and headings', (t) => {
  const examples = readdirSync(join(root, 'examples')).map((name) => `examples/${name}/README.md`)
  const linking = new Set([...documents, ...pages(), ...examples.filter((page) => existsSync(join(root, page)))])
  const links = [...linking].flatMap((page) =>
    [...proseOf(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)/g)].map(([, path = '', anchor = '']) => ({
      page,
      target: path === '' ? page : join(dirname(page), path),
      anchor,
    })),
  )
  t.true(links.length > 200)
  const broken = links.filter(
    ({ target, anchor }) => !existsSync(join(root, target)) || (anchor !== '' && !anchorsOf(target).includes(anchor)),
  )
  t.deepEqual(broken, [])
})
