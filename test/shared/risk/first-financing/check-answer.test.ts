import test from 'ava'
import { disclosed } from '#shared/risk/first-financing/check-answer.ts'
import type { RegistryMatch } from '#shared/risk/packs/signals/double-financing.ts'
import { withSandboxFindings } from '#shared/risk/registries/sandbox/scenarios.ts'
import { effort } from '../../../support/effort.ts'
import { randomOf } from '../../../support/random.ts'
import { demoRequest, sandboxPack, scenarioGstins } from '../packs/demo-pack.ts'

test('the number of flags in a pack is independent of the number of registrations', async (t) => {
  const below = randomOf(20_261_127).int
  for (let round = 0; round < effort(10, 100); round++) {
    const matches = Array.from(
      { length: 1 + below(30) },
      (): RegistryMatch => ({
        class: (['EXACT', 'NEAR', 'ECONOMIC'] as const)[below(3)] ?? 'NEAR',
        state: below(2) === 0 ? 'REGISTERED' : 'FINANCED',
        ownRegistration: below(2) === 0,
        firstSeenMonth: `2026-0${1 + below(9)}`,
      }),
    )
    const { pack } = await sandboxPack(
      {},
      { compose: { registryFindings: { status: 'ANSWERED', matches: disclosed(matches) } } },
    )
    const flags = pack.flags.filter((flag) => flag.startsWith('First-financing registry'))
    const kinds = new Map<string, string>()
    for (const { class: of, state, ownRegistration, firstSeenMonth } of matches) {
      const who = ownRegistration ? 'the same organisation' : 'another organisation'
      const kind = `First-financing registry: ${of} match ${state.toLowerCase()} by ${who}, first seen `
      const known = kinds.get(kind)
      kinds.set(kind, known !== undefined && known < firstSeenMonth ? known : firstSeenMonth)
    }
    t.deepEqual(flags.toSorted(), [...kinds].map(([kind, month]) => kind + month).toSorted())
  }
})

test('a sandbox scenario adds no second match of the same kind', (t) => {
  const request = { ...demoRequest, buyerGstin: scenarioGstins.buyerGstin('14') }
  const near: RegistryMatch = {
    class: 'NEAR',
    state: 'REGISTERED',
    ownRegistration: false,
    firstSeenMonth: '2026-08',
  }
  const found = withSandboxFindings({ status: 'ANSWERED', matches: [near] }, request, '2026-11')
  t.deepEqual(found, { status: 'ANSWERED', matches: [{ ...near, contested: false }] })
})
