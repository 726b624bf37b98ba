import test from 'ava'
import { loadConfig } from '#shared/platform/process/config.ts'
import type { RegistryContext } from '#shared/risk/registries/connector.ts'
import { openProductionRegistries, registryTools } from '../../../workers/registries.ts'
import { ok, recordingGateway } from '../../shared/risk/registries/recording-gateway.ts'

const gstin = '29AAACR5678D1Z5'

function context(orgId: string, handle: string): RegistryContext {
  return {
    env: 'PRODUCTION',
    orgId,
    consent: { handle, id: null, purposeCode: null, expiresAt: null },
    deadline: Date.now() + 20_000,
    signal: new AbortController().signal,
    requestId: 'r',
  }
}

function openRegistries(url: string) {
  const config = loadConfig({
    HOST: '127.0.0.1',
    DATABASE_URL: 'postgres://localhost/none',
    AMQP_URL: 'amqp://localhost/none',
    SECRET_KEY: 'registries-of-a-test-registries-of-a-test',
    REGISTRIES: JSON.stringify({ taxReturns: { url } }),
  })
  return openProductionRegistries(config, registryTools(Date.now))
}

test('invalid consent handles do not open a breaker', async (t) => {
  await using gateway = await recordingGateway([ok({})])
  await using open = openRegistries(gateway.url)
  const { outwardSupplies } = open.registries
  // The API refuses such handles, but older stored requests may contain them.
  for (let pack = 0; pack < 10; pack++) {
    t.is((await outwardSupplies.fetch(context('attacker', '€'), { gstin })).status, 'ERROR')
  }
  t.is(gateway.requests.length, 0)
  await outwardSupplies.fetch(context('victim', 'handle-1'), { gstin })
  await outwardSupplies.fetch(context('attacker', 'handle-2'), { gstin })
  t.deepEqual(
    gateway.requests.map(({ headers }) => headers['x-consent-handle']),
    ['handle-1', 'handle-2'],
  )
})

test('an unavailable gateway opens only the breaker of the caller', async (t) => {
  await using gateway = await recordingGateway(['RESET'])
  await using open = openRegistries(gateway.url)
  const { outwardSupplies } = open.registries
  for (let pack = 0; pack < 5; pack++) await outwardSupplies.fetch(context('one', 'handle-1'), { gstin })
  const requestsBefore = gateway.requests.length
  t.is((await outwardSupplies.fetch(context('one', 'handle-1'), { gstin })).attempts, 0)
  t.is(gateway.requests.length, requestsBefore)
  t.is((await outwardSupplies.fetch(context('two', 'handle-1'), { gstin })).attempts, 1)
})
