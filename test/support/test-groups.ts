import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { reaches, root, sourcesBelow } from './imports.ts'
import { SYSTEM_GROUPS } from './system-groups.ts'

/** unit: no server; api: PostgreSQL and RabbitMQ of the run; system: browsers, programs and separate servers. */
export type Layer = 'unit' | 'api' | 'system'

export interface TestGroup {
  /** unique; also the file name of its entry */
  name: string
  layer: Layer
  files: readonly string[]
}

const SYSTEM_FOLDERS = /^test\/(e2e|examples|faults|fuzz)\//
/** Modules that connect a test to a server. */
const SERVERS = ['test/support/services.ts', 'test/support/own-servers.ts']
/** Source bytes of one group: a start of the product is shared by about six files. */
const GROUP_BYTES = { unit: 120_000, api: 36_000, system: 50_000 }

/** Files with a separate process: they take long, or they block the event loop. */
const ALONE: ReadonlySet<string> = new Set([
  'test/e2e/browser/accessible.test.ts',
  'test/fuzz/every-route.test.ts',
  'test/fuzz/full-project.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/ingress/health.test.ts',
  'test/ingress/tenants.test.ts',
  'test/ingress/event-loop-monitor.test.ts',
])

/** Folder of the generated entries of this run; AVA runs only files inside the project. */
const entryFolder = `test/.groups/${process.pid}`

/** Returns all test files, as paths from the repository root, with their layer. */
export function testFiles(): Map<string, Layer> {
  const files = sourcesBelow('test').filter((file) => /\.test\.tsx?$/.test(file))
  return new Map(files.map((file) => [file, layerOf(file)]))
}

function layerOf(file: string): Layer {
  if (SYSTEM_FOLDERS.test(file)) return 'system'
  return reaches(file, SERVERS) ? 'api' : 'unit'
}

/**
 * Returns the files that the paths (files or folders) and layers name. Paths alone select from all layers; without
 * either, the files of `unit` and `api` are selected.
 */
export function selectFiles(
  files: ReadonlyMap<string, Layer>,
  { paths, layers }: { paths: readonly string[]; layers: readonly string[] },
): Map<string, Layer> {
  const wantedPaths = paths.map((path) => path.replace(/^\.\/|\/$/g, ''))
  const wantedLayers = layers.length > 0 || paths.length > 0 ? layers : ['unit', 'api']
  const isNamed = (file: string) => wantedPaths.some((path) => file === path || file.startsWith(`${path}/`))
  return new Map(
    [...files].filter(
      ([file, layer]) =>
        (paths.length === 0 || isNamed(file)) && (wantedLayers.length === 0 || wantedLayers.includes(layer)),
    ),
  )
}

/**
 * Groups test files of the same layer and folder. The files of a group run in one process and share what they open.
 * System tests are grouped by the servers that they share.
 */
export function groupFiles(files: ReadonlyMap<string, Layer>): TestGroup[] {
  const listed = SYSTEM_GROUPS.map((group) => group.filter((file) => files.has(file))).filter(
    ({ length }) => length > 0,
  )
  const groups = listed.map((group) => ({
    layer: 'system' as Layer,
    folder: folderOf(group[0] ?? ''),
    files: [...group],
    bytes: Infinity,
  }))
  for (const [file, layer] of [...files].sort(([a], [b]) => a.localeCompare(b))) {
    if (listed.flat().includes(file)) continue
    const folder = folderOf(file)
    const bytes = ALONE.has(file) ? Infinity : statSync(join(root, file)).size
    const hasCapacityNow = (group: { bytes: number }) => group.bytes + bytes <= GROUP_BYTES[layer]
    const group = groups.find((one) => one.layer === layer && one.folder === folder && hasCapacityNow(one))
    if (group) {
      group.files.push(file)
      group.bytes += bytes
    } else groups.push({ layer, folder, files: [file], bytes })
  }
  return groups.map(({ layer, folder, files }, index) => ({ name: `${layer}-${folder}-${index}`, layer, files }))
}

/** Returns the two folders below test/ that a file is in, for example `ingress-web`. */
function folderOf(file: string): string {
  return dirname(file).split('/').slice(1, 3).join('-') || 'test'
}

/**
 * Writes an entry for each group of several files: a module that imports them. AVA runs each entry in a process.
 * Imports are static because AVA wants all tests declared before the first one runs.
 * @returns the files to run, from the repository root
 */
export function writeEntries(groups: readonly TestGroup[]): string[] {
  const folder = join(root, entryFolder)
  mkdirSync(folder, { recursive: true })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return groups.map(({ name, files: [first = '', ...others] }) => {
    if (others.length === 0) return first
    const imports = [first, ...others].map((file) => `import '${relative(entryFolder, file)}'\n`)
    writeFileSync(join(folder, `${name}.test.ts`), imports.join(''))
    return `${entryFolder}/${name}.test.ts`
  })
}
