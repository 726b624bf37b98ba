import { readFileSync } from 'node:fs'
import test from 'ava'
import { gatewayOpenapi } from '#shared/risk/registries/gateway-openapi.ts'

test('the committed gateway contract equals the one of the connectors', (t) => {
  const path = new URL('../../../../docs/registries/gateway.openapi.json', import.meta.url)
  const committed: unknown = JSON.parse(readFileSync(path, 'utf8'))
  t.deepEqual(committed, JSON.parse(JSON.stringify(gatewayOpenapi())))
})
