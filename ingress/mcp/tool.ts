import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { Response } from 'express'
import { z } from 'zod'
import type { MONITORING_SCOPES } from '#shared/tenancy/agents/agent-key.ts'
import type { Scope } from '#shared/tenancy/oauth/families.ts'
import type { IngressDeps } from '../deps.ts'
import type { AgentCaller } from './caller.ts'

export interface ToolCall {
  caller: AgentCaller
  deps: IngressDeps
  response: Response
  callId: string
  requestId: string
  /** aborted on cancellation or disconnect; waits then end */
  signal: AbortSignal
  /** metered units that the call caused; stored in the audit */
  units: number
}

export interface Tool {
  name: string
  title: string
  /** fixed text; it never contains texts of other parties */
  description: string
  scope: Scope | (typeof MONITORING_SCOPES)[number]
  annotations: ToolAnnotations
  /** strict: unknown arguments are refused */
  input: z.ZodObject
  /** declares every member of the answer */
  output: z.ZodType<Record<string, unknown>>
  run(input: Record<string, unknown>, call: ToolCall): Promise<Record<string, unknown>>
}

/** `run` is typed by the schemas. Every tool accepts an `idempotencyKey`. */
export function defineTool<In extends z.ZodObject, Out extends z.ZodType<Record<string, unknown>>>(
  tool: Omit<Tool, 'input' | 'output' | 'run'> & {
    input: In
    output: Out
    run(input: z.infer<In>, call: ToolCall): Promise<z.infer<Out>>
  },
): Tool {
  const shape = { idempotencyKey: z.string().optional(), ...tool.input.shape }
  const input = z.strictObject(shape).meta({ ...tool.input.meta() })
  // The type Tool omits the members; the server checks both against their schemas.
  return { ...tool, input } as unknown as Tool
}

export const READ_ONLY: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
/** A repeated call has no further effect. */
export const IDEMPOTENT: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

export type ListedMember = z.ZodUnknown | z.ZodOptional<z.ZodUnknown>

/**
 * Lists the members of an API request as the API documents them. It does not check values: the tool parses its
 * arguments with the API's schema, so that both refuse the same values.
 */
export function listedMembers<Shape extends z.ZodRawShape>(shape: Shape): { [Name in keyof Shape]: ListedMember } {
  const { properties = {}, required = [], $defs = {} } = z.toJSONSchema(z.object(shape), { io: 'input' })
  const listed = Object.entries(properties).map(([name, property]) => {
    const schema = z.unknown().meta(typeof property === 'object' ? { ...inlined(property, $defs) } : {})
    return [name, required.includes(name) ? schema : schema.optional()]
  })
  // Object.fromEntries does not keep the names in its type.
  return Object.fromEntries(listed) as { [Name in keyof Shape]: ListedMember }
}

/** Replaces references to named schemas, because many clients do not resolve them. */
function inlined<Node>(node: Node, defs: Readonly<Record<string, unknown>>): Node {
  if (Array.isArray(node)) return node.map((each) => inlined(each, defs)) as Node & unknown[]
  if (typeof node !== 'object' || node === null) return node
  const { $ref, ...rest } = node as Record<string, unknown>
  const named = typeof $ref === 'string' ? (defs[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}) : {}
  const whole = { ...named, ...rest }
  return Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, inlined(value, defs)])) as Node
}

/** Texts for agents: terms of a pack (docs/spec/risk-signals.md#pack-members; docs/risk-signals.md has more). */
export const TIERS = `# Evidence tiers

Each graded signal has a status: the lowest tier among the inputs that its sentence relies on.

- REGISTRY_VERIFIED: an authoritative registry, read by us, under a consent where one is needed
- LENDER_SIDE: the records of lenders, such as the first-financing registry
- ISSUER_CONFIRMED: the issuer of a document, queried directly
- DOCUMENT_SIGNED: a document whose signature was verified
- SELF_DECLARED: the request itself
- MISSING: no source had the value; it is never zero and never adverse

Levels: CONFLICTED, ATTENTION, INCOMPLETE, CLEAR; the first that applies. They route work to people and recommend nothing.
`

export const FORMULAS = `# Formulas

- Trade: the last 12 return periods whose due date has passed, amendments applied, duplicates removed. A period that was not filed is unknown; a filed one without rows is 0. The trend compares the means of the first and last six periods: from 115 % GROWING, up to 85 % DECLINING, else STABLE.
- Established: at least 6 invoices in at least 3 months.
- Capacity: the worse of two loads. Order to annual turnover: up to 0.25 ADEQUATE, up to 0.60 STRETCHED, above CONSTRAINED. Order per employee: 2,500,000 and 7,500,000 INR.
- Cash flow: the mean of the monthly means of end-of-day balances of six complete months. BRONZE below 100,000, SILVER below 1,000,000, GOLD below 5,000,000, PLATINUM from there. It describes a balance, not quality.
- Double financing, in this order: DUPLICATE_FINANCED, DUPLICATE_REGISTERED, CHARGE_FOUND, POSSIBLE_MATCH, UNRESOLVED, CLEAN. The name of the other party is never disclosed.
`

/**
 * Text of an outside party (a registry, a caller, a ping): data, never an instruction
 * (docs/spec/evidence-families.md#agent-audit).
 */
export const UntrustedSchema = z.object({ untrusted: z.literal(true), source: z.string(), text: z.string() })
export type Untrusted = z.infer<typeof UntrustedSchema>

const MAX_TEXT_LENGTH = 500

/** Marks an untrusted text. Removes control, direction and zero-width characters; keeps at most 500 characters. */
export function untrusted(source: string, text: string): Untrusted {
  const plain = text.normalize('NFC').replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ')
  return { untrusted: true, source, text: [...plain.replace(/ {2,}/g, ' ').trim()].slice(0, MAX_TEXT_LENGTH).join('') }
}

/** Members of the API's answers that contain free text of the caller. */
const WRITTEN_BY_CALLERS = new Set(['receivableRef', 'dealId'])

/**
 * Returns an answer of the API with caller-written texts marked, at any depth. Marked members do not match the hash of
 * an anchored object: verifiers must use the API.
 */
export function markCallers(answer: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, markedMember(name, value)]))
}

function markedMember(name: string, value: unknown): unknown {
  if (typeof value === 'string') return WRITTEN_BY_CALLERS.has(name) ? untrusted('caller', value) : value
  if (Array.isArray(value)) return value.map((each) => markedMember(name, each))
  return typeof value === 'object' && value !== null ? markCallers(value) : value
}
