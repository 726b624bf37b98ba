import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

const statement = /^\s*(?:import|export)\b(?:(?!^\s*(?:import|export)\b)[\s\S])*?\bfrom\s*(['"])(.+?)\1/gm
const sideEffect = /^\s*import\s*(['"])(.+?)\1/gm
const call = /\b(?:import|require)\s*\(\s*(['"])(.+?)\1\s*[,)]/g

/** Returns the imported modules of a source: static, for side effects, re-exported, dynamic, and in types. */
export function importsOf(source: string): string[] {
  const code = source.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  const found = [statement, sideEffect, call].flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[2]))
  return [...new Set(found.filter((name) => name !== undefined))]
}

/** Returns the TypeScript files below a folder of the repository, as paths from its root. */
export function sourcesBelow(folder: string): string[] {
  return (
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      // Folders that begin with a dot hold generated files.
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.includes('/.'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .sort()
  )
}

/** Returns the path of an imported file from the root of the repository; undefined for packages. */
export function fileOf(importer: string, name: string): string | undefined {
  if (name.startsWith('#shared/')) return name.slice(1)
  if (name.startsWith('.')) return join(dirname(importer), name)
  return undefined
}

/** Returns true if a file reaches one of the targets by its imports, directly or through others. */
export function reaches(file: string, targets: readonly string[], seen = new Set<string>()): boolean {
  if (targets.includes(file)) return true
  if (seen.has(file)) return false
  seen.add(file)
  return importedFiles(file).some((next) => reaches(next, targets, seen))
}

/** Four hundred test files share most of their imports, so every file is read once. */
const imported = new Map<string, readonly string[]>()

function importedFiles(file: string): readonly string[] {
  const known = imported.get(file)
  if (known) return known
  let files: string[] = [] // data, or a file that the compiler will complain about
  try {
    files = importsOf(readFileSync(join(root, file), 'utf8')).flatMap((name) => fileOf(file, name) ?? [])
  } catch {}
  imported.set(file, files)
  return files
}
