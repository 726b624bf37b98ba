import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { fileOf, importsOf, root, sourcesBelow } from './support/imports.ts'

const rooms = ['ingress', 'workers', 'shared', 'test'] as const
type Room = (typeof rooms)[number]

const imports = rooms.flatMap((room) =>
  sourcesBelow(room).flatMap((file) =>
    importsOf(readFileSync(join(root, file), 'utf8')).map((name) => ({ room, file, name, target: fileOf(file, name) })),
  ),
)

/** Where each room may reach outside itself, and always as `#shared/...`; tests look into every room. */
const mayImport: Record<Room, readonly string[]> = {
  ingress: ['shared'],
  workers: ['shared'],
  shared: [],
  test: ['shared', 'ingress', 'workers', 'migrations', 'bench', 'examples'],
}
const ioPackages = ['knex', 'pg', 'amqplib', 'got', 'express', 'nodemailer', 'smtp-server', 'undici']
const ioModules = /^node:(fs|net|http|https|http2|tls|dns|dgram|child_process|worker_threads|cluster)(\/|$)/

test('the rooms were found', (t) => {
  t.true(imports.length > 100)
})

test('imports run ingress -> shared <- workers', (t) => {
  const wrong = imports.filter(({ room, target }) => {
    const other = target?.split('/')[0]
    return other !== undefined && other !== room && !mayImport[room].includes(other)
  })
  t.deepEqual(wrong.map(said), [])
})

test('a room is left only by the alias #shared, and never entered by it from inside', (t) => {
  const wrong = imports.filter(({ room, name, target }) => {
    if (name.startsWith('#')) return !name.startsWith('#shared/') || room === 'shared'
    if (!name.startsWith('.') || room === 'test')
      return name.startsWith('.') && target?.startsWith('shared/') && room === 'test'
    return target?.split('/')[0] !== room
  })
  t.deepEqual(wrong.map(said), [])
})

test('our own files are imported by their whole name', (t) => {
  const wrong = imports.filter(({ name }) => /^[.#]/.test(name) && !/\.(tsx?|mjs|json)$/.test(name))
  t.deepEqual(wrong.map(said), [])
})

test('rules are pure: no file of a capability reaches for a database, a broker, the network or the disk', (t) => {
  const wrong = imports.filter(({ file, name, target }) => {
    if (!isPure(file)) return false
    if (target?.startsWith('shared/'))
      return /^shared\/(platform|providers|stack)\//.test(target) || /\/store\.ts$/.test(target)
    const [scope = '', rest] = name.split('/')
    const packageName = scope.startsWith('@') ? `${scope}/${rest}` : scope
    return ioPackages.includes(packageName) || ioModules.test(name)
  })
  t.deepEqual(wrong.map(said), [])
})

for (const [source, names] of [
  ["import { a } from './a.ts'", ['./a.ts']],
  ["import type {\n  A,\n  B,\n} from '#shared/a.ts'", ['#shared/a.ts']],
  ["export { a } from './a.ts'\nexport * from './b.ts'", ['./a.ts', './b.ts']],
  ["import './a.ts'", ['./a.ts']],
  ["const a = await import('./a.ts')", ['./a.ts']],
  ["type A = import('./a.ts').A", ['./a.ts']],
  ["export const a = 1\nimport { b } from './b.ts'", ['./b.ts']],
  ["// import { a } from './a.ts'", []],
] satisfies [string, string[]][])
  test(`the imports of ${JSON.stringify(source)} are seen`, (t) => {
    t.deepEqual(importsOf(source).sort(), names)
  })

/** In a capability's folder everything is a rule, but for its SQL and its command line. */
function isPure(file: string): boolean {
  if (!/^shared\/[^/]+\//.test(file)) return false
  if (/^shared\/(platform|providers|stack)\//.test(file)) return false
  return !/(^|\/)([a-z-]+-)?store\.ts$/.test(file) && !/-cli\.ts$/.test(file)
}

function said({ file, name }: { file: string; name: string }): string {
  return `${file} imports ${name}`
}
