import type { z } from 'zod'
import type { Work } from './calls.ts'
import { parsed, type Refusal, unparseable } from './rules.ts'

/** A request of the contract, as the product sends it. */
export interface GatewayRequest {
  method: string
  path: string
  query: Readonly<Record<string, string>>
  handle: string | null
  /** `x-organisation`: opaque and stable; null without the header */
  organisation: string | null
}

export interface Answer {
  status: number
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** The source of each contract member, for `try`; `known` are the provider's members that the mapping knows. */
export interface Mapping {
  members: Readonly<Record<string, string>>
  known?: readonly string[]
  /** the object of the provider's answer that has the known members */
  at?: readonly string[]
}

export interface Adapter {
  name: string
  /** paths of the contract that it answers, with `{parameters}` */
  operations: readonly string[]
  mappings: Readonly<Record<string, Mapping>>
  /** Answers one request. @throws Refusal without data */
  answer(request: GatewayRequest, work: Work): Promise<Answer>
  health(nowMs: number): { placesLeft: number; tokenUntil: string | null; publishedAt?: string | null }
}

export interface EnvelopeInput {
  asOf: string | null
  consent: { handle: string; id: string | null; purposeCode: string | null; expiresAt: string | null } | null
  data: object
}

/** Returns an answer that the product's schema accepts. @throws Refusal UNPARSEABLE */
export function envelopeAnswer(schema: z.ZodType, work: Work, { asOf, consent, data }: EnvelopeInput): Answer {
  const environment = work.isTest ? { environment: 'TEST' } : {}
  // The product ignores `upstream` and hashes the bytes that contain it.
  const body = { asOf, consent, ...environment, upstream: work.upstream, data }
  parsed(schema, body)
  return jsonAnswer(200, body)
}

export function jsonAnswer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  }
}

/** Returns the answer without data: exactly a code, and nothing of the provider's text. */
export function refusalAnswer({ status, code, retryAfter }: Refusal): Answer {
  return jsonAnswer(status, { code }, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) })
}

/** Reads a parameter of the query. @throws Refusal UNPARSEABLE for an absent one */
export function parameter(request: GatewayRequest, name: string, pattern: RegExp): string {
  const value = request.query[name] ?? ''
  if (!pattern.test(value)) throw unparseable()
  return value
}

export const PATTERNS = {
  pan: /^[A-Z]{5}[0-9]{4}[A-Z]$/,
  gstin: /^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][0-9A-Z]{3}$/,
  cin: /^[A-Z0-9]{8,21}$/i,
  month: /^[0-9]{4}-(0[1-9]|1[0-2])$/,
  day: /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$/,
} as const
