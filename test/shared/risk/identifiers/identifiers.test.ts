import { readFileSync } from 'node:fs'
import test from 'ava'
import { validateCin, validateLlpin } from '#shared/risk/identifiers/company-number.ts'
import { financialYear, validateUdyam } from '#shared/risk/identifiers/financial-year.ts'
import {
  gstinCheckCharacter,
  gstinClass,
  gstinLegacyStates,
  gstinStates,
  validateGstin,
} from '#shared/risk/identifiers/gstin.ts'
import type { IdentifierResult } from '#shared/risk/identifiers/identifier.ts'
import {
  computeIrn,
  type DocumentType,
  irnHashInput,
  matchIrn,
  validateDocumentNumber,
  validateIrn,
} from '#shared/risk/identifiers/irn.ts'
import { leiCheckDigits, validateLei } from '#shared/risk/identifiers/lei.ts'
import { validatePan } from '#shared/risk/identifiers/pan.ts'
import {
  validateEbrcNumber,
  validateIec,
  validateIfsc,
  validateSecurityInterestId,
} from '#shared/risk/identifiers/trade-codes.ts'
import { parsePackRequest } from '#shared/risk/packs/request.ts'
import { demoRequest } from '../packs/demo-pack.ts'

interface Vectors {
  gstinStateCodes: Record<string, string>
  gstinLegacyStateCodes: Record<string, string>
  demoTriple: Record<string, string>
  valid: { kind: string; value: string; parts?: object }[]
  invalid: {
    kind: string
    value: string
    reason: string
    detail: string
    registrationClass?: string
    sandboxWhitelist?: boolean
  }[]
  normalise: { kind: string; input: string; normalised: string }[]
  warn: { kind: string; value: string; warning: string }[]
  irn: {
    supplierGstin: string
    documentType: DocumentType
    documentNumber: string
    documentDate: string
    financialYear: string
    hashInput: string
    irn: string
  }[]
  financialYear: { date: string; financialYear: string }[]
}

// The file has a fixed shape, which JSON.parse does not know.
const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/identifiers.json', import.meta.url), 'utf8'),
) as Vectors

const validators: Record<string, (value: string) => IdentifierResult<object, string>> = {
  GSTIN: (value) => validateGstin(value),
  PAN: validatePan,
  CIN: (value) => validateCin(value, { currentYear: 2026 }),
  LLPIN: validateLlpin,
  UDYAM: validateUdyam,
  LEI: validateLei,
  IRN: validateIrn,
  DOCUMENT_NUMBER: validateDocumentNumber,
  IEC: validateIec,
  IFSC: validateIfsc,
  CERSAI_ID: validateSecurityInterestId,
  EBRC_NUMBER: validateEbrcNumber,
}

function validate(kind: string, value: string): IdentifierResult<object, string> {
  const validator = validators[kind]
  if (!validator) throw new Error(`no validator for ${kind}`)
  return validator(value)
}

test('the three sample registrations of the portal are valid only in the sandbox', (t) => {
  for (const value of ['01AMBPG7773M002', '02AMBPG7773M002', '36AMBPG7773M002']) {
    t.true(validateGstin(value, { sandboxRegistrations: true }).valid, value)
    t.false(validateGstin(value).valid, value)
    for (const role of ['buyerGstin', 'borrowerGstin', 'subcontractorGstin']) {
      const body = { ...demoRequest, mode: 'DEMO', [role]: value }
      t.true(parsePackRequest(body, { sandboxRegistrations: true }).ok, `${role} ${value}`)
      t.false(parsePackRequest(body).ok, `${role} ${value}`)
    }
  }
})

test('company numbers accept old and new letters of a renamed state', (t) => {
  for (const state of ['TS', 'TG', 'OD', 'OR', 'CG', 'CH', 'CT', 'UK', 'UR', 'DH'])
    t.true(validate('CIN', `U62099${state}2024PTC000001`).valid, state)
})

for (const [index, { kind, value, parts }] of vectors.valid.entries()) {
  test(`${kind} ${value} is valid (${index})`, (t) => {
    const result = validate(kind, value)
    t.true(result.valid)
    if (result.valid && parts) t.deepEqual(result.parts, parts)
    t.is(result.value, value)
  })
}

for (const row of vectors.invalid.filter((row) => row.kind !== 'IRN_MATCH')) {
  test(`${row.kind} "${row.value}" is refused: ${row.detail}`, (t) => {
    const result = validate(row.kind, row.value)
    t.false(result.valid)
    if (!result.valid) t.is(result.reason, row.reason)
    if (row.registrationClass) t.is<string | undefined, string>(gstinClass(row.value), row.registrationClass)
    if (row.sandboxWhitelist) t.true(validateGstin(row.value, { sandboxRegistrations: true }).valid)
  })
}

for (const { kind, input, normalised } of vectors.normalise) {
  test(`${kind} ${JSON.stringify(input)} is normalised`, (t) => {
    const result = validate(kind, input)
    t.true(result.valid)
    t.is(result.value, normalised)
  })
}

for (const { kind, value, warning } of vectors.warn) {
  test(`${kind} ${value} is accepted with the warning ${warning}`, (t) => {
    const result = kind === 'GSTIN' ? validateGstin(value, { anyPosition14: true }) : validate(kind, value)
    t.true(result.valid)
    if (result.valid) t.deepEqual(result.warnings, [warning])
  })
}

test('position 14 other than Z is refused by default', (t) => {
  const result = validateGstin('27AAACB1234C1AU')
  t.false(result.valid)
  if (!result.valid) t.is(result.reason, 'NOT_REGULAR')
})

for (const [index, row] of vectors.irn.entries()) {
  test(`the IRN of ${row.documentNumber} dated ${row.documentDate} is recomputed (${index})`, (t) => {
    t.is(financialYear(row.documentDate), row.financialYear)
    t.is(irnHashInput(row), row.hashInput)
    t.is(computeIrn(row), row.irn)
    t.truthy(matchIrn(row.irn.toUpperCase(), row))
  })
}

test('an IRN with another hash does not match its document', (t) => {
  const [row] = vectors.irn
  const other = vectors.invalid.find((entry) => entry.kind === 'IRN_MATCH')
  t.truthy(row && other)
  if (row && other) t.is(matchIrn(other.value, row), undefined)
})

test('near the date of the case rule, the other rule is tried', (t) => {
  const document = {
    supplierGstin: '29AAACR5678D1Z5',
    documentType: 'INV' as const,
    documentNumber: 'ab-1',
    documentDate: '2025-06-05',
  }
  t.is(matchIrn(computeIrn(document, 'CASE_PRESERVED'), document), 'CASE_PRESERVED')
  const later = { ...document, documentDate: '2025-06-20' }
  t.is(matchIrn(computeIrn(later, 'CASE_PRESERVED'), later), undefined)
})

for (const { date, financialYear: expected } of vectors.financialYear) {
  test(`${date} is in the financial year ${expected}`, (t) => t.is(financialYear(date), expected))
}

test('the state tables equal the published ones', (t) => {
  t.deepEqual(gstinStates, vectors.gstinStateCodes)
  t.deepEqual(gstinLegacyStates, vectors.gstinLegacyStateCodes)
})

for (const [name, value] of Object.entries(vectors.demoTriple)) {
  test(`the demo ${name} is a regular registration`, (t) => t.true(validateGstin(value).valid))
}

const lookAlikes = [
  ['Cyrillic А for A', '27\u0410AACB1234C1ZF'],
  ['Cyrillic В for B', '27AAAC\u04121234C1ZF'],
  ['dotless i that upper-cases to I', '27AAAC\u01311234C1ZF'],
  ['long s that upper-cases to S', '27AAAC\u017f1234C1ZF'],
  ['Arabic-Indic digit', '27AAACB\u0661234C1ZF'],
  ['zero-width space at the end', '27AAACB1234C1Z\u200b'],
] as const
for (const [name, value] of lookAlikes) {
  test(`a GSTIN with ${name} is refused as FORMAT`, (t) => {
    const result = validateGstin(value)
    t.false(result.valid)
    if (!result.valid) t.is(result.reason, 'FORMAT')
  })
}

test('the check character of a GSTIN detects every single substitution', (t) => {
  const value = '27AAACB1234C1ZF'
  for (let position = 0; position < 14; position++) {
    for (const character of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
      if (character === value[position]) continue
      const edited = value.slice(0, position) + character + value.slice(position + 1, 14)
      t.not(gstinCheckCharacter(edited), 'F')
    }
  }
})

test('generated LEI check digits verify', (t) => {
  t.is(leiCheckDigits('9999ACMECOMPONENTS'), '53')
  t.is(leiCheckDigits('506700GE1G29325QX3'), '63')
})
