import test from 'ava'
import { expiryAfter, FINANCING_STATES, stateAfter } from '#shared/risk/first-financing/states.ts'
import { registrationView } from '#shared/risk/first-financing/view.ts'
import { addDays, indianDay } from '#shared/risk/packs/money.ts'
import { effort } from '../../../support/effort.ts'
import { randomOf } from '../../../support/random.ts'

const DAY_MS = 86_400_000

test('no registration expires before the action that starts or renews it', (t) => {
  const below = randomOf(20_261_127).int
  for (let round = 0; round < effort(2_000, 50_000); round++) {
    const now = Date.UTC(2026, 0, 1) + below(4_000) * DAY_MS + below(DAY_MS)
    const anyDay = () => addDays(indianDay(now), below(8_000) - 4_000)
    const dueDate = below(2) === 0 ? null : anyDay()
    const financedOn = anyDay()
    const hold = { dueDate, expiresAt: now + 1 + below(DAY_MS) }
    const financed = expiryAfter({ ...hold, state: 'REGISTERED' }, 'finance', now, financedOn)
    const days = dueDate === null ? 365 : 180
    const from = [dueDate ?? financedOn, indianDay(now)].toSorted().at(-1) ?? ''
    const about = `due ${dueDate}, financed on ${financedOn}, now ${now}`
    t.is(financed, Date.parse(`${addDays(from, days)}T00:00:00+05:30`), about)
    t.true(financed - now > (days - 1) * DAY_MS, about)
    for (const state of ['REGISTERED', 'FINANCED'] as const) {
      t.true(expiryAfter({ ...hold, state }, 'renew', now, financedOn) > now + 7 * DAY_MS, about)
    }
  }
})

test('an expired registration permits no action in any state', (t) => {
  for (const state of FINANCING_STATES)
    for (const action of ['finance', 'release', 'cancel', 'renew', 'transfer'] as const)
      t.is(stateAfter({ state, renewals: 0, expiresAt: new Date(1_000) }, action, 1_000), null, `${state} ${action}`)
})

test('an expired registration is shown as LAPSED before the sweep', (t) => {
  const expiresAt = new Date(1_000)
  const registration = {
    id: 'ce1c3e0e-3f8f-4a2e-9d5c-5a8c0d3f2b11',
    organisationId: 1,
    env: 'SANDBOX' as const,
    state: 'FINANCED' as const,
    mode: 'FIELDS' as const,
    dealId: null,
    sealedReceivable: null,
    dueDate: null,
    financedOn: '2026-05-02',
    renewals: 0,
    contested: false,
    expiresAt,
    firstSeenAt: expiresAt,
    createdAt: expiresAt,
    record: '{}',
  }
  t.is(registrationView(registration, 999).state, 'FINANCED')
  t.is(registrationView(registration, 1_000).state, 'LAPSED')
  t.is(registrationView({ ...registration, state: 'RELEASED' }, 1_000).state, 'RELEASED')
})
