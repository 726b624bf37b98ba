import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { functionsAbove, linesOf } from './support/function-lengths.ts'
import { fileOf, importsOf, reaches, root, sourcesBelow } from './support/imports.ts'

const areas = ['all', 'ingress', 'workers', 'shared', 'stack', 'test'] as const
type Area = (typeof areas)[number]

const imports = areas.flatMap((area) =>
  sourcesBelow(area).flatMap((file) =>
    importsOf(readFileSync(join(root, file), 'utf8')).map((name) => ({ area, file, name, target: fileOf(file, name) })),
  ),
)

/** The areas that each area may import, always as `#shared/...`. Tests may import every area. */
const mayImport: Record<Area, readonly string[]> = {
  // One process with both: the only area that imports listeners and workers.
  all: ['shared', 'ingress', 'workers'],
  ingress: ['shared'],
  workers: ['shared'],
  shared: [],
  stack: ['shared'],
  test: ['all', 'shared', 'ingress', 'workers', 'stack', 'migrations', 'bench', 'examples'],
}
/** The layers of `shared/`, lowest first. A module may import only modules of lower layers. */
const layers = [
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

test('the imports of all areas are found', (t) => {
  t.true(imports.length > 100)
})

test('imports run ingress -> shared <- workers', (t) => {
  const wrong = imports.filter(({ area, target }) => {
    const other = target?.split('/')[0]
    return other !== undefined && other !== area && !mayImport[area].includes(other)
  })
  t.deepEqual(wrong.map(describe), [])
})

test('every folder of shared/ is a module of a layer', (t) => {
  const folders = new Set(sourcesBelow('shared').map((file) => file.split('/').slice(1, -1)[0]))
  folders.delete(undefined)
  t.deepEqual([...folders].sort(), layers.flat().sort())
})

test('modules of shared/ import only lower layers', (t) => {
  const wrong = imports.filter(({ area, file, target }) => {
    const [from, to] = [moduleOf(file), target === undefined ? undefined : moduleOf(target)]
    return area === 'shared' && to !== undefined && to !== from && levelOf(to) >= levelOf(from)
  })
  t.deepEqual(wrong.map(describe), [])
})

test('monitoring and risk never import each other', (t) => {
  const wrong = imports.filter(({ area, file, target }) => {
    const [from, to] = [productOf(file), target === undefined ? undefined : productOf(target)]
    return area !== 'test' && from !== undefined && to !== undefined && from !== to
  })
  t.deepEqual(wrong.map(describe), [])
})

const entryPoints = ['admin', 'api-monitoring', 'api-risk', 'mcp', 'oauth', 'oid4vp', 'ping', 'smtp', 'web']
/** Files that put the entry points together. No other file outside an entry point imports one. */
const composition = [
  'ingress/admin.ts',
  'ingress/app.ts',
  'ingress/deps.ts',
  'ingress/openapi.ts',
  'ingress/platform-routes.ts',
  'ingress/risk-services.ts',
  'ingress/server.ts',
  'ingress/smtp.ts',
  'ingress/start-ingress.ts',
  'ingress/threads/tasks.ts',
]

test('an entry point imports nothing from another entry point', (t) => {
  const wrong = imports.filter(({ area, file, target }) => {
    const other = target === undefined ? undefined : entryPointOf(target)
    return area === 'ingress' && other !== undefined && entryPointOf(file) !== other && !composition.includes(file)
  })
  t.deepEqual(wrong.map(describe), [])
})

test('an entry point does not reach another one through a file that composes them', (t) => {
  // deps.ts declares only types. The command `openapi` writes the document of all routes.
  const allowed = ['ingress/deps.ts']
  const wrong = imports.filter(
    ({ file, target = '' }) =>
      entryPointOf(file) !== undefined && composition.includes(target) && !allowed.includes(target),
  )
  t.deepEqual(wrong.map(describe), ['ingress/admin/generate.ts imports ../openapi.ts'])
})

test('imports have no cycle', (t) => {
  const graph = new Map<string, string[]>()
  for (const { file, target } of imports)
    if (target !== undefined) graph.set(file, [...(graph.get(file) ?? []), target])
  t.deepEqual(cycleIn(graph), [])
})

test('another area is imported only by the alias #shared', (t) => {
  const wrong = imports.filter(({ area, name, target }) => {
    if (name.startsWith('#')) return !name.startsWith('#shared/') || area === 'shared'
    if (!name.startsWith('.') || area === 'test')
      return name.startsWith('.') && target?.startsWith('shared/') && area === 'test'
    const other = target?.split('/')[0] ?? ''
    return area === 'all' ? !['all', 'ingress', 'workers'].includes(other) : other !== area
  })
  t.deepEqual(wrong.map(describe), [])
})

test('our own files are imported by their whole name', (t) => {
  const wrong = imports.filter(({ name }) => /^[.#]/.test(name) && !/\.(tsx?|mjs|json)$/.test(name))
  t.deepEqual(wrong.map(describe), [])
})

test('code of threads imports no JSX, which Node cannot load', (t) => {
  const withJsx = sourcesBelow('ingress').filter((file) => file.endsWith('.tsx'))
  t.true(withJsx.length > 0)
  t.false(reaches('ingress/threads/tasks.ts', withJsx))
})

test('rules are pure: no rule imports a database, a broker, the network or the disk', (t) => {
  const wrong = imports.filter(({ file, name, target }) => {
    if (!isPure(file)) return false
    if (target?.startsWith('shared/')) return doesIo(target)
    const [scope = '', rest] = name.split('/')
    const packageName = scope.startsWith('@') ? `${scope}/${rest}` : scope
    return ioPackages.includes(packageName) || ioModules.test(name)
  })
  t.deepEqual(wrong.map(describe), [])
})

test('routes are declared by read and write; only protocols of others are declared below them', (t) => {
  const foreign =
    /^ingress\/(oauth\/|oid4vp\/|mcp\/|api-monitoring\/(badge-images|calendar|callbacks|metrics|status)\.ts|api-risk\/colending\/lms-events\.ts)/
  const wrong = sourcesBelow('ingress')
    .filter((file) => file !== 'ingress/route.ts' && !/-route\.ts$/.test(file) && !foreign.test(file))
    .filter((file) => readFileSync(join(root, file), 'utf8').includes('defineRoute('))
  t.deepEqual(wrong, [])
})

test('only store.ts and *-store.ts hold SQL, beside the database platform itself', (t) => {
  const wrong = ['shared', 'workers', 'ingress']
    .flatMap((area) => sourcesBelow(area))
    .filter((file) => !isStore(file) && !file.startsWith('shared/platform/database/'))
    .filter((file) => holdsSql(readFileSync(join(root, file), 'utf8')))
  t.deepEqual(wrong, [])
})

test('stores run their SQL by query() and execute()', (t) => {
  const wrong = ['shared', 'workers', 'ingress']
    .flatMap((area) => sourcesBelow(area))
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

test('operations import neither express nor ingress', (t) => {
  const wrong = imports.filter(
    ({ file, name, target }) => isOperation(file) && (/^express(\/|$)/.test(name) || target?.startsWith('ingress/')),
  )
  t.deepEqual(wrong.map(describe), [])
})

/** Matches code that gives a page or a command the key or the actor of a program. */
const FORGED_KEY = /\bkeyId: ?\d|\bProjectKey\b|kind: '(?:key|client)'/

test('pages and commands use their own actor, never a key', (t) => {
  const wrong = ['ingress/web', 'ingress/admin'].flatMap((folder) =>
    sourcesBelow(folder).filter((file) => FORGED_KEY.test(readFileSync(join(root, file), 'utf8'))),
  )
  t.deepEqual(wrong, [])
})

// Migrations are never edited, and each is one list of statements.
const written = [...areas, 'bench', 'examples'].flatMap((area) => sourcesBelow(area))

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

function moduleOf(file: string): string | undefined {
  const [area, module, rest] = file.split('/')
  return area === 'shared' && rest !== undefined ? module : undefined
}

/** Returns the index of the layer of a module; -1 for files outside the modules, which are the lowest layer. */
function levelOf(module: string | undefined): number {
  return layers.findIndex((level) => module !== undefined && level.includes(module))
}

/** Returns the product (monitoring or risk) that the folder of a file names. */
function productOf(file: string): string | undefined {
  return /^(?:shared|ingress|ingress\/web)\/(?:api-)?(monitoring|risk)\//.exec(file)?.[1]
}

/** Returns the entry point whose folder contains a file. */
function entryPointOf(file: string): string | undefined {
  const [area, folder = ''] = file.split('/')
  return area === 'ingress' && entryPoints.includes(folder) ? folder : undefined
}

/** Returns the files of one import cycle; empty if there is none. */
function cycleIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file])
      if (cycle.length > 0) return cycle
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const cycle = visit(file, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

/** Returns true for files of `shared/` that do input or output: the platform, adapters and stores. */
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

/** Returns true if a source runs or contains SQL: through our functions, knex or string literals. */
function holdsSql(source: string): boolean {
  return (
    importsOf(source).some((name) => name.endsWith('/database/sql.ts')) ||
    /^import (type )?\{[^}]*\bPrepared\b/m.test(source) ||
    /\.raw\s*(<[^(]*>)?\(|\bsql`|\b(db|\w+Db|tx|trx|knex)(<\w+>)?\(['"`]\w+['"`]\)/.test(source) ||
    /['"`]\s*(WITH \w+ AS \(|SELECT .* FROM |INSERT INTO |UPDATE \w+ SET |DELETE FROM )/s.test(source)
  )
}

/** Returns true for a file that must be pure: everything except stores, operations and command lines. */
function isPure(file: string): boolean {
  return /^shared\/[^/]+\//.test(file) && !doesIo(file) && !isOperation(file) && !/-cli\.ts$/.test(file)
}

/** Returns true for operations: business logic between the entry points and the stores. */
function isOperation(file: string): boolean {
  return /^shared\/[^/]+\/operations\//.test(file)
}

function describe({ file, name }: { file: string; name: string }): string {
  return `${file} imports ${name}`
}
