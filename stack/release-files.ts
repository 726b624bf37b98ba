import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { mustRun } from './run-command.ts'

const root = resolve(import.meta.dirname, '..')

/** `npm sbom` writes one licence or one expression per package. */
const billOfMaterials = z.looseObject({
  components: z.array(
    z.looseObject({
      'bom-ref': z.string(),
      name: z.string(),
      version: z.string(),
      licenses: z
        .array(
          z.object({
            license: z.object({ id: z.string().optional(), name: z.string().optional() }).optional(),
            expression: z.string().optional(),
          }),
        )
        .optional(),
    }),
  ),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
})

const lockFile = z.object({
  packages: z.record(z.string(), z.looseObject({ version: z.string().optional(), dev: z.boolean().optional() })),
})

/** Licences read from the files of packages without a licence field. */
const READ: Readonly<Record<string, string>> = { 'png-js': 'MIT (its LICENSE file)' }

/**
 * Returns a CycloneDX document. `npm sbom --omit dev` omits packages that a development package also needs, so the lock
 * file determines the list.
 */
export async function makeSbom(): Promise<string> {
  const all = await mustRun(['npm', 'sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'], { cwd: root })
  const bill = billOfMaterials.parse(JSON.parse(all))
  const lock = lockFile.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  const shipped = new Set(
    Object.entries(lock.packages)
      .filter(([, { dev }]) => dev !== true)
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`),
  )
  const components = bill.components.filter(({ name, version }) => shipped.has(`${name}@${version}`))
  const refs = new Set(components.map((component) => component['bom-ref']))
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref) || !bill.components.some((component) => component['bom-ref'] === ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }))
  return JSON.stringify({ ...bill, components, dependencies }, null, 2)
}

/** Returns one line per package, ordered by name. A package without a licence is `not declared`, for a manual check. */
export function licenceList(sbom: string): string {
  const { components } = billOfMaterials.parse(JSON.parse(sbom))
  const lines = components.map(({ name, version, licenses = [] }) => {
    const named = licenses.map(({ license, expression }) => license?.id ?? license?.name ?? expression)
    const declared = named.filter((text) => text !== undefined).join(', ')
    return `${name} ${version}: ${declared || READ[name] || 'not declared'}`
  })
  return `${[...new Set(lines)].sort().join('\n')}\n`
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = join(root, 'release')
  mkdirSync(folder, { recursive: true })
  const sbom = await makeSbom()
  writeFileSync(join(folder, 'sbom.cdx.json'), `${sbom}\n`)
  writeFileSync(join(folder, 'licences.txt'), licenceList(sbom))
  process.stdout.write('wrote release/sbom.cdx.json and release/licences.txt\n')
}
