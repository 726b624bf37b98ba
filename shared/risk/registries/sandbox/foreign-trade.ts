import { addDays } from '../../packs/money.ts'
import type { SandboxWorld } from './answers.ts'
import { demoInt } from './demo-trade.ts'
import { scenarioOfPan } from './scenarios.ts'

const PATHS = ['/exporter-codes/', '/export-certificates', '/shipping-bills']

export function isForeignTrade(url: URL): boolean {
  return PATHS.some((path) => url.pathname.startsWith(path))
}

const TENTH_OFF = 1.1

/** Scenario 46 has no record, in 47 the value deviates by 10 %. */
export function foreignTradeAnswer(world: SandboxWorld, url: URL, iec: string): object | undefined {
  const scenario = scenarioOfPan(iec)
  if (scenario === 'NO_TRADE_RECORD') return undefined
  const { business, seed } = world
  const query = (name: string) => url.searchParams.get(name) ?? ''
  if (url.pathname.startsWith('/exporter-codes/')) {
    const adopted = scenario === 'OTHER_NAME' ? undefined : business?.legalName
    return {
      iec,
      legalName: adopted ?? `Demo Exporter ${demoInt(seed, iec, 'name', 0, 99_999)}`,
      status: scenario === 'REGISTRATION_CANCELLED' ? 'CANCELLED' : 'ACTIVE',
      issuedOn: '2019-04-01',
    }
  }
  if (url.pathname === '/export-certificates') return certificateAnswer(world, iec, query('brcNumber'))
  const bill = { number: query('number'), date: query('date'), portCode: query('portCode') }
  const fob = business?.fobValueInr ?? demoInt(seed, bill.number, 'fob', 100_000, 9_000_000)
  return {
    iec,
    ...bill,
    fobInr: (scenario === 'OTHER_VALUE' ? fob * TENTH_OFF : fob).toFixed(2),
    invoiceNumbers: [`EXP/${bill.number}`],
  }
}

function certificateAnswer({ business, seed }: SandboxWorld, iec: string, brcNumber: string): object {
  const bill = business?.shippingBill ?? null
  const issuedOn = bill ? addDays(bill.date, 19) : '2026-04-02'
  const amount = business?.realised?.amount ?? demoInt(seed, brcNumber, 'realised', 1_000, 90_000)
  const realised = { amount, currency: business?.realised?.currency ?? 'USD' }
  const status = scenarioOfPan(iec) === 'REGISTRATION_CANCELLED' ? 'CANCELLED' : 'ISSUED'
  const remittance = { ...realised, date: addDays(issuedOn, -1) }
  return { iec, brcNumber, status, issuedOn, shippingBill: bill, realised, remittance }
}
