import { z } from 'zod'
import type { FieldCode } from '../../field-codes.ts'
import { rule } from '../../validation.ts'
import { holdsAadhaar } from '../identifiers/aadhaar.ts'
import { type GstinReason, validateGstin } from '../identifiers/gstin.ts'
import { identifierProblem } from '../identifiers/identifier.ts'
import { indianDay, isDay, parsePaise } from '../packs/money.ts'

const AADHAAR = rule('AADHAAR_NOT_ACCEPTED', 'must not contain an Aadhaar number')

/** Refuses control characters, lone surrogates and Aadhaar numbers. */
export function line(maximum = 200) {
  return z
    .string()
    .min(1)
    .max(maximum)
    .refine(
      (text) => /^[^\p{C}]+$/u.test(text) && text.trim() === text,
      rule('FORMAT', 'must be one line of printable text'),
    )
    .refine((text) => !holdsAadhaar(text), AADHAAR)
}

const GSTIN_RULES: Record<GstinReason, string> = {
  LENGTH: 'must have 15 characters',
  FORMAT: 'must be two digits followed by ASCII letters and digits',
  STATE_CODE: 'starts with an unknown state code',
  NOT_REGULAR: 'is not a registration of the regular class',
  PAN_FORMAT: 'does not contain a well-formed PAN',
  ENTITY_CODE: 'has an entity code that is not used',
  CHECK_DIGIT: 'has a wrong check character',
}

/** The error names the violated rule. */
export function identifier(
  validate: (input: string) => { valid: true; value: string } | { valid: false; value: string; reason: FieldCode },
  rules: Readonly<Record<string, string>> = {},
) {
  return z.string().transform((input, ctx) => {
    const result = validate(input)
    if (result.valid) return result.value
    const message = rules[result.reason] ?? identifierProblem(result.reason)
    ctx.addIssue({ code: 'custom', ...rule(result.reason, message) })
    return z.NEVER
  })
}

export const gstin = identifier(validateGstin, GSTIN_RULES).meta({ id: 'Gstin', example: '29AAACR5678D1Z5' })

export const day = z
  .string()
  .refine(isDay, { ...rule('FORMAT', 'must be a date YYYY-MM-DD'), abort: true })
  .meta({ id: 'Day', description: 'YYYY-MM-DD', example: '2026-05-01' })

/** The first day of GST: no tax registration has an older document. */
const FIRST_GST_DAY = '2017-07-01'
const MAX_DUE_YEARS = 10

/** Between the beginning of GST and the latest possible due date. */
export const dueDay = day
  .refine((text) => text >= FIRST_GST_DAY, { ...rule('TOO_EARLY', `must not be before ${FIRST_GST_DAY}`), abort: true })
  .refine((text) => text <= yearsAfter(indianDay(Date.now()), MAX_DUE_YEARS), {
    ...rule('TOO_LATE', `must be at most ${MAX_DUE_YEARS} years after today`),
    abort: true,
  })

export const pastDay = day
  .refine((text) => text >= FIRST_GST_DAY, rule('TOO_EARLY', `must not be before ${FIRST_GST_DAY}`))
  .refine((text) => text <= indianDay(Date.now()), rule('TOO_LATE', 'must not be after today in India'))

/** A due date is at most ten years after the document. */
export function checkDueDate(
  { documentDate, dueDate }: { documentDate: string; dueDate?: string | undefined },
  ctx: z.core.$RefinementCtx,
): void {
  if (dueDate === undefined) return
  const issue = { code: 'custom' as const, path: ['dueDate'] }
  if (dueDate < documentDate) {
    ctx.addIssue({ ...issue, ...rule('TOO_EARLY', 'must not be before documentDate') })
  } else if (dueDate > yearsAfter(documentDate, MAX_DUE_YEARS)) {
    const message = `must be at most ${MAX_DUE_YEARS} years after documentDate`
    ctx.addIssue({ ...issue, ...rule('TOO_LATE', message) })
  }
}

/** For comparisons only: 29 February may become a day that does not exist. */
function yearsAfter(date: string, years: number): string {
  return `${String(Number(date.slice(0, 4)) + years).padStart(4, '0')}${date.slice(4)}`
}

const AMOUNT_MAX = 1e13

export const amountInr = z
  .number()
  .refine((value) => value > 0, { ...rule('TOO_SMALL', 'must be greater than 0'), abort: true })
  .refine((value) => value <= AMOUNT_MAX, { ...rule('TOO_LARGE', 'must be at most 1e13'), abort: true })
  .refine((value) => parsePaise(value) !== undefined, rule('TOO_MANY_DECIMALS', 'must have at most two decimals'))
  .meta({ id: 'AmountInr', description: 'rupees' })

export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex characters')

export const AnchorSchema = z
  .object({ network: z.string(), txId: z.string(), payloadSha256: z.string() })
  .meta({ id: 'RecordAnchor' })

/** Other members depend on `eventType`. */
export const AnchoredObject = z.looseObject({ eventType: z.string(), timestamp: z.string(), anchor: AnchorSchema })

export function anchored<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({ ...shape, eventType: z.string(), timestamp: z.string(), anchor: AnchorSchema })
}

/** A spreadsheet executes a cell that begins like this: it gets an apostrophe, unless it is a plain number. */
const FORMULA = /^[=+\-@\t\r]/
const PLAIN_NUMBER = /^[+-]?[0-9]+(?:\.[0-9]+)?$/

export type CsvCell = string | number | null

/** RFC 4180, with line ends. */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${csvLine(row)}\r\n`).join('')
}

/** RFC 4180, without its line end. */
export function csvLine(cells: readonly CsvCell[]): string {
  return cells.map(csvCell).join(',')
}

function csvCell(value: CsvCell): string {
  const text = value === null ? '' : String(value)
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const ConsentSchema = z.object({
  handle: z.string(),
  id: z.string().nullable(),
  purposeCode: z.string().nullable(),
  expiresAt: z.string().nullable(),
})

export const EvidenceEntrySchema = z.object({
  key: z.string(),
  source: z.string(),
  tier: z.string(),
  observedAt: z.string(),
  asOf: z.string().nullable(),
  consent: ConsentSchema.nullable(),
  rawSha256: z.string().nullable(),
  missingReason: z.string().nullable(),
  connectorVersion: z.string().nullable(),
  policyVersion: z.string(),
  finding: z.string().nullable(),
})

export const EvidenceSchema = z
  .object({
    packId: z.uuid(),
    generatedAt: z.string(),
    payloadSha256: z.string(),
    txId: z.string(),
    evidence: z.array(EvidenceEntrySchema),
  })
  .meta({ id: 'PackEvidence' })
