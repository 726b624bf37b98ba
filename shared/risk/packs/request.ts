import { z } from 'zod'
import type { FieldError } from '../../errors.ts'
import { checkValue, fieldErrors, rule } from '../../validation.ts'
import { type GstinOptions, validateGstin } from '../identifiers/gstin.ts'
import { isDay, parsePaise } from './money.ts'
import { TOKEN_MAX_BYTES, TOKENS_MAX_COUNT } from './signals/e-invoice-token.ts'

/** Normalised; amounts are rupees. */
export interface PackRequest {
  mode: 'DEMO' | 'LIVE'
  buyerGstin: string
  borrowerGstin: string
  subcontractorGstin: string
  poValue: number
  dealId?: string | undefined
  poNumber?: string | undefined
  /** `YYYY-MM-DD` */
  poDate?: string | undefined
  subcontractValue?: number | undefined
  eInvoices?: string[] | undefined
  consents?: PackConsents | undefined
}

export interface PackConsents {
  gst?: string | undefined
  aa?: string | undefined
  epfo?: string | undefined
}

const ROLES = ['buyerGstin', 'borrowerGstin', 'subcontractorGstin'] as const

/** Ten lakh crore rupees. */
const AMOUNT_MAX = 1e13

const GSTIN_MESSAGES = {
  LENGTH: 'must have 15 characters',
  FORMAT: 'must be two digits followed by ASCII letters and digits',
  STATE_CODE: 'starts with an unknown state code',
  NOT_REGULAR: 'is not a registration of the regular class',
  PAN_FORMAT: 'does not contain a well-formed PAN',
  ENTITY_CODE: 'has an entity code that is not used',
  CHECK_DIGIT: 'has a wrong check character',
} as const

/** Refuses control characters, lone surrogates and outer white space. */
function line(maximum: number) {
  return z
    .string()
    .min(1)
    .max(maximum)
    .refine(
      (text) => /^[^\p{C}]+$/u.test(text) && text.trim() === text,
      rule('FORMAT', 'must be one line of printable text'),
    )
}

/** A consent handle is sent in a header, so it must be visible ASCII. */
const handle = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => /^[!-~]*$/.test(text), rule('FORMAT', 'must be visible ASCII characters'))

const amount = z
  .number()
  .refine((value) => value > 0, { ...rule('TOO_SMALL', 'must be greater than 0'), abort: true })
  .refine((value) => value <= AMOUNT_MAX, { ...rule('TOO_LARGE', 'must be at most 1e13'), abort: true })
  .refine((value) => parsePaise(value) !== undefined, rule('TOO_MANY_DECIMALS', 'must have at most two decimals'))

const eInvoiceToken = z
  .string()
  .min(1)
  .refine((token) => Buffer.byteLength(token) <= TOKEN_MAX_BYTES, rule('TOO_LARGE', 'must be at most 64 KiB'))

function gstin(options: GstinOptions) {
  return z.string().superRefine((value, ctx) => {
    const result = validateGstin(value, options)
    if (result.valid) return
    ctx.addIssue({ code: 'custom', ...rule(result.reason, GSTIN_MESSAGES[result.reason]) })
  })
}

export function packRequestSchema(options: GstinOptions = {}) {
  return z.strictObject({
    mode: z.enum(['DEMO', 'LIVE']),
    buyerGstin: gstin(options),
    borrowerGstin: gstin(options),
    subcontractorGstin: gstin(options),
    poValue: amount.describe('rupees'),
    dealId: line(100).optional().describe('your name of the deal; events contain it'),
    poNumber: line(100).optional().describe('the order is recorded, and matched exactly'),
    poDate: z
      .string()
      .refine(isDay, rule('FORMAT', 'must be a date YYYY-MM-DD'))
      .optional()
      .describe('YYYY-MM-DD; no signal uses it'),
    subcontractValue: amount.optional().describe('rupees; capacity of the subcontractor, poValue when absent'),
    eInvoices: z
      .array(eInvoiceToken)
      .max(TOKENS_MAX_COUNT)
      .optional()
      .describe('signed e-invoices as compact tokens; each is a receivable between two of the parties'),
    consents: z
      .strictObject({ gst: handle.optional(), aa: handle.optional(), epfo: handle.optional() })
      .optional()
      .describe(
        'handles of the consents for returns, bank accounts and provident-fund records; in production a value without one is MISSING with NO_CONSENT',
      ),
  })
}

/** Reports every error with its path (docs/spec/risk-signals.md#pack-request). */
export function parsePackRequest(
  body: unknown,
  options: GstinOptions = {},
): { ok: true; request: PackRequest } | { ok: false; errors: FieldError[] } {
  const checked = checkValue(packRequestSchema(options), body)
  if (!checked.ok) return { ok: false, errors: fieldErrors(checked.faults, 'the body') }
  const request = { ...checked.value }
  for (const role of ROLES) request[role] = validateGstin(request[role], options).value
  const errors = duplicateRoles(request)
  return errors.length > 0 ? { ok: false, errors } : { ok: true, request }
}

/** A mismatch is FORBIDDEN (docs/spec/risk-signals.md#pack-request). */
export function isModeAllowed(mode: PackRequest['mode'], env: 'SANDBOX' | 'PRODUCTION'): boolean {
  return mode === (env === 'SANDBOX' ? 'DEMO' : 'LIVE')
}

function duplicateRoles(request: PackRequest): FieldError[] {
  return ROLES.flatMap((role, index) => {
    const earlier = ROLES.slice(0, index).find((other) => request[other] === request[role])
    if (!earlier) return []
    return [{ path: role, code: 'DUPLICATE_ROLE', message: `${role} is the same registration as ${earlier}` }]
  })
}
