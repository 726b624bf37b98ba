import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire, type ResolveFnOutput, registerHooks, setSourceMapsSupport } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Test processes load this before anything else (`nodeArguments` in ava.config.js). Node reads TypeScript itself, but no
// JSX: that is compiled here, and kept over runs. Compared with tsx, which the product's own processes are started with,
// a test process that loads the product needs two fifths less processor time to begin.

// AVA has Node read source maps; those of packages, a tenth of the start time, are never used.
setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })

const root = fileURLToPath(new URL('../..', import.meta.url))
const home = new URL('../..', import.meta.url).href
const packages = new URL('node_modules/', home).href
const cache = join(root, 'node_modules/.cache/jsx')
mkdirSync(cache, { recursive: true })
const require = createRequire(import.meta.url)

const resolved = new Map<string, ResolveFnOutput>()
registerHooks({
  // Our own modules are imported by their exact names: no folder has to be searched. The search takes a sixth of the
  // load time of the product, which has a thousand modules.
  resolve(specifier, context, nextResolve) {
    const from = context.parentURL
    if (!from?.startsWith(home) || from.startsWith(packages)) return nextResolve(specifier, context)
    if (/\.tsx?$/.test(specifier)) {
      if (specifier.startsWith('#shared/')) return found(new URL(specifier.slice(1), home))
      if (specifier.startsWith('.')) return found(new URL(specifier, from))
    }
    if (!/^[@a-z]/.test(specifier)) return nextResolve(specifier, context)
    // All of our modules see the same packages, in the one folder at the root.
    const key = `${context.conditions.join()} ${specifier}`
    const known = resolved.get(key)
    if (known) return known
    const result = nextResolve(specifier, context)
    resolved.set(key, { ...result, shortCircuit: true })
    return result
  },
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.tsx')) return nextLoad(url, context)
    return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true }
  },
})

function found({ href }: URL) {
  return { url: href, format: 'module-typescript', shortCircuit: true }
}

/** The module at `path` without types and JSX; compiled once for each content. */
function compiled(path: string): string {
  const source = readFileSync(path, 'utf8')
  const kept = join(cache, `${createHash('sha256').update(path).update('\0').update(source).digest('hex')}.js`)
  if (existsSync(kept)) return readFileSync(kept, 'utf8')
  const { transformSync }: typeof import('esbuild') = require('esbuild')
  const options = {
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: 'tsx',
    format: 'esm',
    sourcefile: path,
  } as const
  const { code } = transformSync(source, { ...options, sourcemap: 'inline', target: 'esnext' })
  const unfinished = `${kept}.${process.pid}`
  writeFileSync(unfinished, code)
  renameSync(unfinished, kept) // another process reads all of it or nothing
  return code
}
