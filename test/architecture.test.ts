import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { functionsAbove, linesOf } from './support/function-lengths.ts'
import { fileOf, importsOf, reaches, root, sourcesBelow } from './support/imports.ts'

const rooms = ['ingress', 'workers', 'shared', 'stack', 'test'] as const
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
  stack: ['shared'],
  test: ['shared', 'ingress', 'workers', 'stack', 'migrations', 'bench', 'examples'],
}
/** The wings of `shared/`, ground first: a wing may import only what stands in a line above its own. */
const wings = [
  ['contracts', 'canonical'],
  ['platform'],
  ['delivery', 'transparency'],
  ['tenancy'],
  ['jobs'],
  ['monitoring', 'webhooks'],
  ['risk'],
]
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

test('every folder of shared/ is a wing, and the files beside them are few', (t) => {
  const folders = new Set(sourcesBelow('shared').map((file) => file.split('/').slice(1, -1)[0]))
  folders.delete(undefined)
  t.deepEqual([...folders].sort(), wings.flat().sort())
})

test('wings import only downward', (t) => {
  const wrong = imports.filter(({ room, file, target }) => {
    const [from, to] = [layerOf(file), target === undefined ? undefined : layerOf(target)]
    return room === 'shared' && to !== undefined && to !== from && levelOf(to) >= levelOf(from)
  })
  t.deepEqual(wrong.map(said), [])
})

test('monitoring and risk never import each other', (t) => {
  const wrong = imports.filter(({ room, file, target }) => {
    const [from, to] = [productOf(file), target === undefined ? undefined : productOf(target)]
    return room !== 'test' && from !== undefined && to !== undefined && from !== to
  })
  t.deepEqual(wrong.map(said), [])
})

const entryPoints = ['admin', 'api-monitoring', 'api-risk', 'mcp', 'oauth', 'oid4vp', 'ping', 'smtp', 'web']
/** Files that put the entry points together. No other file outside an entry point imports one. */
const composition = [
  'ingress/admin.ts',
  'ingress/app.ts',
  'ingress/deps.ts',
  'ingress/docs-page.tsx',
  'ingress/open-ingress.ts',
  'ingress/openapi.ts',
  'ingress/platform-routes.ts',
  'ingress/risk-services.ts',
  'ingress/server.ts',
  'ingress/smtp.ts',
  'ingress/threads/tasks.ts',
]

test('an entry point imports nothing of another entry point', (t) => {
  const wrong = imports.filter(({ room, file, target }) => {
    const other = target === undefined ? undefined : entryPointOf(target)
    return room === 'ingress' && other !== undefined && entryPointOf(file) !== other && !composition.includes(file)
  })
  t.deepEqual(wrong.map(said), [])
})

test('an entry point does not reach another one through a file that composes them', (t) => {
  // deps.ts declares only types. The command `openapi` writes the document of all routes.
  const allowed = ['ingress/deps.ts']
  const wrong = imports.filter(
    ({ file, target = '' }) =>
      entryPointOf(file) !== undefined && composition.includes(target) && !allowed.includes(target),
  )
  t.deepEqual(wrong.map(said), ['ingress/admin/generate.ts imports ../openapi.ts'])
})

test('no import runs in a circle', (t) => {
  const graph = new Map<string, string[]>()
  for (const { file, target } of imports)
    if (target !== undefined) graph.set(file, [...(graph.get(file) ?? []), target])
  t.deepEqual(circleIn(graph), [])
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

test('what runs in threads reaches no JSX, which Node does not read itself', (t) => {
  const withJsx = sourcesBelow('ingress').filter((file) => file.endsWith('.tsx'))
  t.true(withJsx.length > 0)
  t.false(reaches('ingress/threads/tasks.ts', withJsx))
})

test('rules are pure: no file of a capability reaches for a database, a broker, the network or the disk', (t) => {
  const wrong = imports.filter(({ file, name, target }) => {
    if (!isPure(file)) return false
    if (target?.startsWith('shared/')) return doesIo(target)
    const [scope = '', rest] = name.split('/')
    const packageName = scope.startsWith('@') ? `${scope}/${rest}` : scope
    return ioPackages.includes(packageName) || ioModules.test(name)
  })
  t.deepEqual(wrong.map(said), [])
})

test('routes are declared by read and write; only protocols of others are declared below them', (t) => {
  const foreign =
    /^ingress\/(oauth\/|oid4vp\/|mcp\/|api-monitoring\/(badge-images|callbacks|metrics|status)\.ts|api-risk\/colending\/lms-events\.ts)/
  const wrong = sourcesBelow('ingress')
    .filter((file) => file !== 'ingress/route.ts' && !/-route\.ts$/.test(file) && !foreign.test(file))
    .filter((file) => readFileSync(join(root, file), 'utf8').includes('defineRoute('))
  t.deepEqual(wrong, [])
})

test('only store.ts and *-store.ts hold SQL, beside the database platform itself', (t) => {
  const wrong = ['shared', 'workers', 'ingress']
    .flatMap((room) => sourcesBelow(room))
    .filter((file) => !isStore(file) && !file.startsWith('shared/platform/database/'))
    .filter((file) => holdsSql(readFileSync(join(root, file), 'utf8')))
  t.deepEqual(wrong, [])
})

test('stores run their SQL by query() and execute()', (t) => {
  const wrong = ['shared', 'workers', 'ingress']
    .flatMap((room) => sourcesBelow(room))
    .filter((file) => isStore(file) && /\.raw\s*[(<]/.test(readFileSync(join(root, file), 'utf8')))
  t.deepEqual(wrong, [])
})

/** A stated type of rows with several columns, or with a name: only the column lists of `columns()` are checked. */
const STATED_ROW = /\b(query|run|Prepared)<(?!\{ \w+: [^;]*\}>)/

test('stores state row types only for one column', (t) => {
  const wrong = sourcesBelow('shared').filter(
    (file) => isStore(file) && STATED_ROW.test(readFileSync(join(root, file), 'utf8')),
  )
  t.deepEqual(wrong, [])
})

test('operations know no door: nothing of express, nothing of ingress', (t) => {
  const wrong = imports.filter(
    ({ file, name, target }) => isOperation(file) && (/^express(\/|$)/.test(name) || target?.startsWith('ingress/')),
  )
  t.deepEqual(wrong.map(said), [])
})

/** What a page or a command would need to pass for a program: the key of one, or an actor of that kind. */
const FORGED_KEY = /\bkeyId: ?\d|\bProjectKey\b|kind: '(?:key|client)'/

test('no page and no command forges a key: it has an actor of its own', (t) => {
  const wrong = ['ingress/web', 'ingress/admin'].flatMap((folder) =>
    sourcesBelow(folder).filter((file) => FORGED_KEY.test(readFileSync(join(root, file), 'utf8'))),
  )
  t.deepEqual(wrong, [])
})

// Migrations are never edited, and each is one list of statements.
const written = [...rooms, 'bench', 'examples'].flatMap((room) => sourcesBelow(room))

test('no file has more than 300 lines', (t) => {
  const long = written.filter((file) => linesOf(file) > 300)
  t.deepEqual(
    long.map((file) => `${file} has ${linesOf(file)}`),
    [],
  )
})

test('no function has more than 100 lines, those declared inside it included', (t) => {
  const long = functionsAbove(100, written)
  t.deepEqual(
    long.map(({ file, line, lines }) => `${file}:${line} has ${lines}`),
    [],
  )
})

function layerOf(file: string): string | undefined {
  const [room, wing, rest] = file.split('/')
  return room === 'shared' && rest !== undefined ? wing : undefined
}

/** How far up a wing stands; files beside the wings are the ground itself. */
function levelOf(wing: string | undefined): number {
  return wings.findIndex((level) => wing !== undefined && level.includes(wing))
}

/** Which of the two products a file belongs to, where its folder says so. */
function productOf(file: string): string | undefined {
  return /^(?:shared|ingress|ingress\/web)\/(?:api-)?(monitoring|risk)\//.exec(file)?.[1]
}

/** The entry point whose folder contains a file. */
function entryPointOf(file: string): string | undefined {
  const [room, folder = ''] = file.split('/')
  return room === 'ingress' && entryPoints.includes(folder) ? folder : undefined
}

/** The files of one circle of imports; empty when there is none. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next, [...path, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const circle = visit(file, [])
    if (circle.length > 0) return circle
  }
  return []
}

/** Where `shared/` touches the outside: its platform, its adapters, SQL. */
function doesIo(file: string): boolean {
  return (
    /^shared\/(platform|transparency\/providers)\//.test(file) ||
    /^shared\/delivery\/(mailer|http-attempt)\.ts$/.test(file) ||
    isStore(file)
  )
}

function isStore(file: string): boolean {
  return /(^|\/)([a-z-]+-)?store\.ts$/.test(file)
}

/** Whether a source runs statements or writes them: by our functions, by knex or as text. */
function holdsSql(source: string): boolean {
  return (
    importsOf(source).some((name) => name.endsWith('/database/sql.ts')) ||
    /^import (type )?\{[^}]*\bPrepared\b/m.test(source) ||
    /\.raw\s*(<[^(]*>)?\(|\bsql`|\b(db|\w+Db|tx|trx|knex)(<\w+>)?\(['"`]\w+['"`]\)/.test(source) ||
    /['"`]\s*(WITH \w+ AS \(|SELECT .* FROM |INSERT INTO |UPDATE \w+ SET |DELETE FROM )/s.test(source)
  )
}

/** In a capability's folder everything is a rule, but for its SQL, its operations and its command line. */
function isPure(file: string): boolean {
  return /^shared\/[^/]+\//.test(file) && !doesIo(file) && !isOperation(file) && !/-cli\.ts$/.test(file)
}

/** What the product does, which all doors share: between their dialects and the stores. */
function isOperation(file: string): boolean {
  return /^shared\/[^/]+\/operations\//.test(file)
}

function said({ file, name }: { file: string; name: string }): string {
  return `${file} imports ${name}`
}
