import { panOfGstin } from '../../identifiers/gstin.ts'
import { addMonths, indianDay, parsePaise, toInr } from '../../packs/money.ts'
import type { PackRequest } from '../../packs/request.ts'
import { returnWindow } from '../../packs/signals/return-window.ts'
import { demoDigits, demoHash, demoInt, demoTrade } from './demo-trade.ts'
import { anyPartyIs, partyPans, rejectsEverything, scenarioOfPan } from './scenarios.ts'

/** The sandbox's registries adopt these, so that they agree with each other. */
export interface BusinessQuery {
  legalName?: string | undefined
  companyNumber?: string | undefined
  pan?: string | undefined
  shippingBill?: { number: string; date: string; portCode: string } | undefined
  realised?: { amount: number; currency: string } | undefined
  fobValueInr?: number | undefined
}

export interface SandboxWorld {
  seed: string
  /** the request for a pack; absent for a lookup of one entity */
  request?: PackRequest | undefined
  business?: BusinessQuery | undefined
  nowMs: number
}

/** Table 4 rows in the member names of the return. */
export function tradeAnswer({ seed, request, nowMs }: SandboxWorld, supplierGstin: string, recipientGstin: string) {
  const dashed = (day: string) => day.split('-').reverse().join('-')
  const periods = demoTrade(seed, supplierGstin, recipientGstin, nowMs, request !== undefined).map((demo) => ({
    fp: `${demo.period.slice(5)}${demo.period.slice(0, 4)}`,
    filing: 'MONTHLY',
    status: demo.isFiled ? 'FILED' : 'NOT_FILED',
    b2b: [
      {
        ctin: recipientGstin,
        inv: demo.invoices.map(({ number, date, valuePaise }) => ({
          inum: number,
          idt: dashed(date),
          val: toInr(valuePaise),
        })),
      },
    ],
    cdnr: demo.creditNote
      ? [
          {
            ctin: recipientGstin,
            nt: [
              {
                ntty: 'C',
                nt_num: demo.creditNote.number,
                nt_dt: dashed(demo.creditNote.date),
                val: toInr(demo.creditNote.valuePaise),
              },
            ],
          },
        ]
      : [],
  }))
  return { statement: 'GSTR1', gstin: supplierGstin, periods }
}

/** Scenarios 06 and 07 derive the turnover from the order: 40 % and 100 % of it. */
export function suppliesAnswer(world: SandboxWorld, gstin: string) {
  const { seed, nowMs } = world
  const scenario = scenarioOfPan(panOfGstin(gstin))
  const orderPaise = orderPaiseOf(world, panOfGstin(gstin))
  const ordinary = demoInt(seed, gstin, 'annualTurnover', 2000, 9000) * 100_000_000
  const sized = scenario === 'STRETCHED' ? orderPaise * 2.5 : scenario === 'CONSTRAINED' ? orderPaise : ordinary
  const total = Math.round(sized)
  const monthly = Math.floor(total / 12)
  const periods = returnWindow(nowMs).map((period, slot) => ({
    period,
    value: toInr(slot === 11 ? total - 11 * monthly : monthly),
  }))
  return { gstin, periods }
}

export function taxpayerAnswer({ seed, business, nowMs }: SandboxWorld, gstin: string) {
  const isCancelled = scenarioOfPan(panOfGstin(gstin)) === 'REGISTRATION_CANCELLED'
  const years = demoInt(seed, gstin, 'registeredYears', 3, 7)
  return {
    gstin,
    legalName: demoName(seed, panOfGstin(gstin), business),
    status: isCancelled ? 'CANCELLED' : 'ACTIVE',
    registeredOn: `${addMonths(indianDay(nowMs), -12 * years)}-01`,
    otherGstins: [],
  }
}

/** A buyer accepts every document, but rejects each in scenario 45. */
export function invoiceActionAnswer(buyerGstin: string, documentNumber: string) {
  return { documentNumber, action: rejectsEverything(buyerGstin) ? 'REJECTED' : 'ACCEPTED', actedOn: null }
}

/** Every identifier is active except a PAN with scenario 04. */
export function personAnswer(registry: 'PAN' | 'CKYC', identifier: string) {
  const isCancelled = registry === 'PAN' && scenarioOfPan(identifier) === 'REGISTRATION_CANCELLED'
  return { registry, status: isCancelled ? 'CANCELLED' : 'ACTIVE' }
}

/** Scenario 10 shares a director between the party and the borrower. */
export function companyAnswer({ seed, request, business, nowMs }: SandboxWorld, pan: string) {
  const [, borrowerPan, subcontractorPan] = request ? partyPans(request) : []
  const directors = [demoDigits(seed, pan, 'director1', 8), demoDigits(seed, pan, 'director2', 8)]
  const isShared =
    scenarioOfPan(pan) === 'COMMON_DIRECTOR' ||
    (borrowerPan !== undefined && scenarioOfPan(borrowerPan) === 'COMMON_DIRECTOR' && pan === subcontractorPan)
  if (isShared && borrowerPan !== undefined && pan !== borrowerPan) {
    directors.push(demoDigits(seed, borrowerPan, 'director1', 8))
  }
  const year = Number(indianDay(nowMs).slice(0, 4)) - demoInt(seed, pan, 'companyAge', 8, 20)
  return {
    pan,
    companyNumber:
      business?.companyNumber ?? (pan[3] === 'C' ? `U28999MH${year}PTC${demoDigits(seed, pan, 'company', 6)}` : null),
    legalName: demoName(seed, pan, business),
    status: 'ACTIVE',
    directorIds: directors,
    addressHash: demoHash(seed, pan, 'address'),
  }
}

/** The requested name, except in scenario 41. */
function demoName(seed: string, pan: string, business: BusinessQuery | undefined): string {
  const demoName = `Demo Enterprise ${demoDigits(seed, pan, 'name', 5)}`
  return scenarioOfPan(pan) === 'OTHER_NAME' ? demoName : (business?.legalName ?? demoName)
}

/** `undefined` without a record (scenario 05). */
export function providentFundAnswer(world: SandboxWorld, pan: string) {
  const { seed, nowMs } = world
  const scenario = scenarioOfPan(pan)
  if (scenario === 'NO_PROVIDENT_FUND') return undefined
  const ordinary = demoInt(seed, pan, 'activeMembers', 400, 1500)
  // Enough members that in these two scenarios only the turnover decides.
  const isSized = scenario === 'STRETCHED' || scenario === 'CONSTRAINED'
  const sized = isSized ? Math.ceil(orderPaiseOf(world, pan) / 250_000_000) : 0
  return {
    pan,
    establishmentId: `SBX${demoDigits(seed, pan, 'establishment', 10)}`,
    wageMonth: addMonths(indianDay(nowMs), -1),
    activeMembers: Math.max(ordinary, sized),
  }
}

/** Scenario 08 of any party adds a charge on the receivables. */
export function securityAnswer({ seed, request, nowMs }: SandboxWorld, pan: string, searchType: string) {
  const charge = {
    securityInterestId: `4${demoDigits(seed, pan, 'securityInterest', 11)}`,
    assetCategory: 'RECEIVABLES',
    coversReceivables: true,
    createdOn: `${addMonths(indianDay(nowMs), -9)}-15`,
    securedAmount: demoInt(seed, pan, 'securedAmount', 10, 90) * 1_000_000,
    chargeHolderType: 'BANK',
    active: true,
  }
  const isCharged = request
    ? anyPartyIs(request, 'CHARGE_ON_RECEIVABLES')
    : scenarioOfPan(pan) === 'CHARGE_ON_RECEIVABLES'
  const interests = isCharged ? [charge] : []
  // The demo register has the contents of the start of the Indian day, so that equal requests of a day have equal
  // signals.
  const searchedAt = new Date(`${indianDay(nowMs)}T00:00:00+05:30`).toISOString()
  return { searchType, searchedAt, interests }
}

/** One current account with a constant end-of-day balance. */
export function accountsAnswer({ seed }: SandboxWorld, pan: string, from: string, to: string) {
  const balance = demoInt(seed, pan, 'balance', 1_500_000, 4_000_000)
  const movement = demoInt(seed, pan, 'movement', 50_000, 400_000)
  const months: string[] = []
  for (let month = from.slice(0, 7); month < to.slice(0, 7); month = addMonths(month, 1)) months.push(month)
  return {
    Account: [
      {
        type: 'deposit',
        maskedAccNumber: `XXXXXX${demoDigits(seed, pan, 'account', 4)}`,
        linkedAccRef: demoHash(seed, pan, 'account').slice(0, 32),
        Summary: { currentBalance: `${balance}.00`, type: 'CURRENT' },
        Transactions: {
          startDate: from,
          endDate: to,
          Transaction: months.flatMap((month) => [
            movementRow('DEBIT', movement, balance - movement, `${month}-10T10:00:00+05:30`),
            movementRow('CREDIT', movement, balance, `${month}-10T17:00:00+05:30`),
          ]),
        },
      },
    ],
  }
}

function movementRow(type: string, amount: number, balance: number, transactionTimestamp: string) {
  return { type, amount: `${amount}.00`, currentBalance: `${balance}.00`, transactionTimestamp }
}

// Outside a pack one crore rupees replaces the order, so that the capacity scenarios still apply.
const NO_ORDER_PAISE = 1_000_000_000

function orderPaiseOf({ request }: SandboxWorld, pan: string): number {
  if (!request) return NO_ORDER_PAISE
  const isSubcontractor = pan === panOfGstin(request.subcontractorGstin)
  const order = isSubcontractor ? (request.subcontractValue ?? request.poValue) : request.poValue
  return parsePaise(order) ?? NO_ORDER_PAISE
}
