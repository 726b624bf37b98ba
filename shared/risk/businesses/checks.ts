import { panOfGstin } from '../identifiers/gstin.ts'
import type { RegistryResult } from '../registries/connector.ts'
import type {
  CompanyMaster,
  LeiRecord,
  RegistryCompany,
  RegistryCompanyQuery,
  TaxpayerStatus,
} from '../registries/registry-data.ts'
import { nameSimilarity } from './entity.ts'
import type { VerificationRequest } from './requests.ts'

/** Details contain codes, dates and figures, never a name. */
export interface BusinessCheck {
  key: string
  tier: string
  result: 'MATCH' | 'MISMATCH' | 'MISSING'
  detail: string
}

export interface BusinessAnswers {
  taxpayer: RegistryResult<TaxpayerStatus> | null
  company: RegistryResult<CompanyMaster> | null
  lei: RegistryResult<LeiRecord[]> | null
  /** of the register outside India that the LEI record names */
  registerCompany: RegistryResult<RegistryCompany> | null
}

const REGISTERS: Readonly<Record<string, keyof BusinessAnswers>> = {
  'gstin.status': 'taxpayer',
  'gstin.legalName': 'taxpayer',
  'cin.status': 'company',
  'cin.legalName': 'company',
  lei: 'lei',
  'lei.registeredAs': 'lei',
  'register.status': 'registerCompany',
  'register.legalName': 'registerCompany',
}

/** By the key of each finding; null without a response. */
export function answerHashes(
  checks: readonly BusinessCheck[],
  answers: BusinessAnswers,
): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    checks.map(({ key, tier }) => {
      // Two identifiers of the request can be compared without a register; a company number comes from one.
      const isCompared = key === 'identifiers.agree' && tier === 'REGISTRY_VERIFIED'
      const register = isCompared ? 'company' : REGISTERS[key]
      return [key, (register && answers[register]?.rawSha256) ?? null]
    }),
  )
}

/** Threshold for equal names (docs/spec/evidence-families.md#business-checks). */
const MATCH_PERMILLE = 850

/** Returns the entry of a foreign register that an LEI record names; null for an Indian company or without an entry. */
export function foreignEntryOf(record: LeiRecord | undefined): RegistryCompanyQuery | null {
  const { jurisdiction, registeredAt, registeredAs } = record ?? {}
  if (!jurisdiction || !registeredAt || !registeredAs || /^IN\b/.test(jurisdiction)) return null
  return /^RA[0-9]{6}$/.test(registeredAt) ? { authority: registeredAt, number: registeredAs } : null
}

/** Fixed order; omits registers that were not queried. */
export function businessChecks(request: VerificationRequest, answers: BusinessAnswers): BusinessCheck[] {
  const { taxpayer, company, registerCompany } = answers
  return [
    ...(taxpayer ? [statusCheck('gstin.status', taxpayer, (data) => data.status, registered(taxpayer))] : []),
    ...(taxpayer && request.legalName !== undefined ? [nameCheck('gstin.legalName', taxpayer, request.legalName)] : []),
    ...(request.cin !== undefined && company ? companyChecks(request.cin, request.legalName, company) : []),
    ...(request.pan !== undefined ? [formCheck('pan.form')] : []),
    ...(request.llpin !== undefined ? [formCheck('llpin.form')] : []),
    ...(request.udyam !== undefined ? [formCheck('udyam.form')] : []),
    ...(answers.lei ? leiChecks(request, answers.lei) : []),
    ...(registerCompany ? registerChecks(request.legalName, registerCompany) : []),
    ...agreement(request, company),
  ]
}

function registered(taxpayer: RegistryResult<TaxpayerStatus>): string {
  const since = taxpayer.data?.registeredOn
  return since ? `active since ${since}` : 'active'
}

function statusCheck<T>(
  key: string,
  answer: RegistryResult<T>,
  statusOf: (data: T) => string,
  detail: string,
): BusinessCheck {
  if (answer.status !== 'OK') return missing(key, answer.missingReason)
  const status = statusOf(answer.data)
  if (status === 'ACTIVE') return { key, tier: answer.tier, result: 'MATCH', detail }
  return { key, tier: answer.tier, result: 'MISMATCH', detail: status }
}

function nameCheck(key: string, answer: RegistryResult<{ legalName: string }>, expectedName: string): BusinessCheck {
  if (answer.status !== 'OK') return missing(key, answer.missingReason)
  const permille = nameSimilarity(answer.data.legalName, expectedName)
  if (permille === null) return missing(key, 'NOT_FOUND')
  const result = permille >= MATCH_PERMILLE ? 'MATCH' : 'MISMATCH'
  return { key, tier: answer.tier, result, detail: `similarity ${permille} of 1000` }
}

function companyChecks(
  cin: string,
  legalName: string | undefined,
  company: RegistryResult<CompanyMaster>,
): BusinessCheck[] {
  const isItsNumber = company.status === 'OK' && company.data.companyNumber === cin
  const status =
    company.status === 'OK' && !isItsNumber
      ? missing('cin.status', 'NOT_FOUND')
      : statusCheck('cin.status', company, (data) => data.status, 'active')
  return [status, ...(legalName === undefined ? [] : [nameCheck('cin.legalName', company, legalName)])]
}

function leiChecks(request: VerificationRequest, answer: RegistryResult<LeiRecord[]>): BusinessCheck[] {
  const record = answer.data?.[0]
  if (answer.status !== 'OK' || !record) return [missing('lei', answer.missingReason ?? 'NOT_FOUND')]
  // A lapsed registration is reported without an evaluation.
  const detail = `registration ${record.registrationStatus}`
  const found: BusinessCheck = { key: 'lei', tier: answer.tier, result: 'MATCH', detail }
  if (request.cin === undefined) return [found]
  if (record.registeredAs === null) return [found, missing('lei.registeredAs', 'NOT_FOUND')]
  const result = record.registeredAs === request.cin ? 'MATCH' : 'MISMATCH'
  return [found, { key: 'lei.registeredAs', tier: answer.tier, result, detail: result.toLowerCase() }]
}

function registerChecks(legalName: string | undefined, company: RegistryResult<RegistryCompany>): BusinessCheck[] {
  const status = statusCheck('register.status', company, (data) => data.status, 'active')
  return [status, ...(legalName === undefined ? [] : [nameCheck('register.legalName', company, legalName)])]
}

/** Compares the PAN inside the GSTIN with the PAN, and the company number of the PAN with the CIN. */
function agreement(request: VerificationRequest, company: BusinessAnswers['company']): BusinessCheck[] {
  const key = 'identifiers.agree'
  const facts: boolean[] = []
  if (request.gstin !== undefined && request.pan !== undefined) facts.push(panOfGstin(request.gstin) === request.pan)
  const number = company?.data?.companyNumber
  if (request.cin !== undefined && number !== undefined && number !== null) facts.push(number === request.cin)
  if (facts.length === 0) return []
  const isAgreed = facts.every(Boolean)
  const tier = number === undefined || number === null ? 'SELF_DECLARED' : 'REGISTRY_VERIFIED'
  return [{ key, tier, result: isAgreed ? 'MATCH' : 'MISMATCH', detail: isAgreed ? 'equal' : 'different' }]
}

function formCheck(key: string): BusinessCheck {
  return { key, tier: 'SELF_DECLARED', result: 'MATCH', detail: 'well formed' }
}

function missing(key: string, reason: string | null): BusinessCheck {
  return { key, tier: 'MISSING', result: 'MISSING', detail: reason ?? 'NOT_FOUND' }
}
