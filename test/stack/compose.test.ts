import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { workers } from '../../workers/registry.ts'
import { root } from '../support/imports.ts'

test('compose.yaml runs every worker as a service that scales by itself', (t) => {
  const compose = readFileSync(join(root, 'compose.yaml'), 'utf8')
  const services = [...compose.matchAll(/^ {2}([\w-]+): .*"workers\/main\.ts", "([\w-]+)"\]/gm)]
  t.deepEqual(
    services.map(([, service, worker]) => [service, worker]).sort(),
    workers.map(({ name }) => [name, name]).sort(),
  )
})
