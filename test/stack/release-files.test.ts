import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { licenceList, makeSbom } from '../../stack/release-files.ts'
import { root } from '../support/imports.ts'

test('the bill of materials names every package that a release ships, and each declares its licence', async (t) => {
  const sbom = await makeSbom()
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const list = licenceList(sbom)
  for (const [name, version] of Object.entries(dependencies)) t.true(list.includes(`${name} ${version}: `), name)
  t.false(list.includes('typescript '), 'what only development needs is not shipped')
  t.notRegex(list, /not declared|UNLICENSED/)
})

test('a package without a licence is listed as such', (t) => {
  const sbom = JSON.stringify({
    components: [
      { 'bom-ref': 'b@1', name: 'b', version: '1.0.0', licenses: [{ expression: '(MIT OR CC0-1.0)' }] },
      { 'bom-ref': 'a@2', name: 'a', version: '2.0.0' },
    ],
    dependencies: [],
  })
  t.is(licenceList(sbom), 'a 2.0.0: not declared\nb 1.0.0: (MIT OR CC0-1.0)\n')
})

test('only install scripts that were looked at run, and releases wait for three days', (t) => {
  const lines = readFileSync(join(root, '.npmrc'), 'utf8').split('\n')
  t.true(lines.includes('strict-allow-scripts=true'))
  t.true(lines.includes('min-release-age=3'))
})
