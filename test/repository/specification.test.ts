import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { root, sourcesBelow } from '../support/imports.ts'

const folder = join(root, 'docs/spec')

/** Returns the anchors that GitHub makes of the headings of a document. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((it) =>
      it
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

test('every cited section of the specification exists', (t) => {
  const documents = readdirSync(folder)
  const anchors = new Map(documents.map((name) => [name, anchorsOf(readFileSync(join(folder, name), 'utf8'))]))
  const sources = ['all', 'ingress', 'workers', 'shared', 'stack', 'bench', 'test', 'examples'].flatMap((it) =>
    sourcesBelow(it),
  )
  const citing = [...sources, ...documents.map((name) => `docs/spec/${name}`)]
  const cited = citing.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(/(?:docs\/spec\/|\]\()([a-z-]+\.md)#([\w-]+)/g)].map(([, name = '', anchor = '']) => ({
      file,
      name,
      anchor,
    }))
  })
  t.true(cited.length > 200)
  const wrong = cited.filter(({ name, anchor }) => !anchors.get(name)?.has(anchor))
  t.deepEqual(wrong, [])
})

test('the specification has at most 2,000 lines', (t) => {
  const lines = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8').split('\n').length)
  t.true(lines.reduce((sum, count) => sum + count) <= 2_000)
})
