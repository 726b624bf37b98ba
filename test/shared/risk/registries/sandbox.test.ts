import test from 'ava'
import { validateLei } from '#shared/risk/identifiers/lei.ts'
import type { RegistryContext } from '#shared/risk/registries/connector.ts'
import { demoInt } from '#shared/risk/registries/sandbox/demo-trade.ts'
import { createSandboxRegistries, SANDBOX_SEED } from '#shared/risk/registries/sandbox/registries.ts'
import { VirtualClock } from './virtual-clock.ts'

const START = Date.parse('2026-11-21T06:30:00.000Z')

function sandbox() {
  const clock = new VirtualClock(START)
  const registries = createSandboxRegistries(
    { seed: SANDBOX_SEED },
    { now: clock.now, sleep: clock.sleep, random: () => 0.5 },
  )
  const context: RegistryContext = {
    env: 'SANDBOX',
    orgId: 'o',
    consent: { handle: 'demo-consent', id: null, purposeCode: null, expiresAt: null },
    deadline: START + 20_000,
    signal: new AbortController().signal,
    requestId: 'r',
  }
  return { registries, context }
}

test('demo values are equal on every machine', (t) => {
  t.is(demoInt('seed', '29AAACR5678D1Z5', 'field', 0, 999_999), 132_404)
})

test('the sandbox registries also answer outside a pack', async (t) => {
  const { registries, context } = sandbox()
  const status = await registries.taxpayerStatus.fetch(context, { gstin: '29AAACR5678D1Z5' })
  t.is(status.data?.status, 'ACTIVE')
  const company = await registries.companyMaster.fetch(context, { pan: 'AAACR5610D' })
  t.is(company.data?.directorIds.length, 2)
  const turnover = await registries.outwardSupplies.fetch(context, { gstin: '29AAACR5606D1ZZ' })
  t.is(
    turnover.data?.periods.reduce((sum, period) => sum + period.valuePaise, 0),
    2_500_000_000,
  )
  const search = await registries.securityInterests.fetch(context, { pan: 'AAACR5608D', searchType: 'SI' })
  t.is(search.data?.interests.length, 1)
})

test('demo LEIs are valid and belong to no issuer', async (t) => {
  const { registries, context } = sandbox()
  const found = await registries.leiRecords.fetch(context, { registeredAs: 'U28999MH2015PTC123456' })
  const [record] = found.data ?? []
  t.true(validateLei(record?.lei ?? '').valid)
  t.true(record?.lei.startsWith('9999'))
  t.is(record?.registeredAs, 'U28999MH2015PTC123456')
  t.is(found.source, 'DEMO')
  const again = await registries.leiRecords.fetch(context, { lei: record?.lei ?? '' })
  t.is(again.data?.[0]?.lei, record?.lei)
})

test('a failing scenario opens no circuit breaker for the next request', async (t) => {
  for (let call = 0; call < 7; call++) {
    const { registries, context } = sandbox()
    const result = await registries.companyMaster.fetch(context, { pan: 'AAACR5603D' })
    t.is(result.missingReason, 'TIMEOUT')
    t.is(result.attempts, 3)
  }
})
