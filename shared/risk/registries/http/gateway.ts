import { hash } from 'node:crypto'
import { z } from 'zod'
import { parsePaise } from '../../packs/money.ts'
import {
  type IncomingResponse,
  MISSING_REASONS,
  type MissingReason,
  type OutgoingRequest,
  type RegistryContext,
} from '../connector.ts'
import { type Parsed, reasonOfStatus } from '../runner.ts'

/** The contract is docs/registries/gateway.openapi.json. */
export const GatewayConfig = z.strictObject({ url: z.url(), token: z.string().min(1).optional() })

export type GatewayConfig = z.infer<typeof GatewayConfig>

export function envelope<Data extends z.ZodType>(data: Data) {
  return z.object({
    asOf: z.iso.datetime({ offset: true }).nullable(),
    consent: z
      .object({
        handle: z.string(),
        id: z.string().nullable(),
        purposeCode: z.string().nullable(),
        expiresAt: z.iso.datetime({ offset: true }).nullable(),
      })
      .nullish(),
    /** data of a provider's test environment, which is no evidence */
    environment: z.literal('TEST').optional(),
    data,
  })
}

/** Every response except 200; `code` is a missing reason. */
export const GatewayProblem = z.object({ code: z.enum(MISSING_REASONS) })

/** A JSON number or a decimal string. */
export const rupees = z
  .union([z.number(), z.string()])
  .transform((amount, ctx) => parsePaise(amount) ?? refuse(ctx, 'not an amount of at most two decimals'))

function refuse(ctx: z.RefinementCtx, message: string): never {
  ctx.addIssue({ code: 'custom', message })
  return z.NEVER
}

type Target = Pick<OutgoingRequest, 'method' | 'url' | 'headers' | 'body'>

export function gatewayGet(
  config: GatewayConfig,
  context: RegistryContext,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Target {
  const search = new URLSearchParams(query).toString()
  const url = `${config.url.replace(/\/$/, '')}${path}${search && `?${search}`}`
  return { method: 'GET', url, headers: gatewayHeaders(config, context) }
}

/** Searches use POST, because their terms must not appear in access logs. */
export function gatewayPost(config: GatewayConfig, context: RegistryContext, path: string, body: object): Target {
  const headers = { ...gatewayHeaders(config, context), 'content-type': 'application/json' }
  return { method: 'POST', url: `${config.url.replace(/\/$/, '')}${path}`, headers, body: JSON.stringify(body) }
}

function gatewayHeaders(config: GatewayConfig, context: RegistryContext): Record<string, string> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'x-request-id': context.requestId,
    'x-organisation': opaqueOrganisation(context.orgId),
  }
  if (config.token) headers.authorization = `Bearer ${config.token}`
  if (context.consent) headers['x-consent-handle'] = context.consent.handle
  return headers
}

/** Identifies an organisation to the gateway, which binds consent handles to it, without its id. */
function opaqueOrganisation(orgId: string): string {
  return hash('sha256', `registry gateway ${orgId}`).slice(0, 32)
}

/** Parses a response that follows the contract; otherwise returns `undefined`. */
export function readEnvelope<Schema extends ReturnType<typeof envelope>, T>(
  schema: Schema,
  body: Buffer,
  read: (data: z.output<Schema>['data']) => T | undefined,
): Parsed<T> | undefined {
  const parsed = schema.safeParse(JSON.parse(body.toString('utf8')))
  if (!parsed.success || parsed.data.environment === 'TEST') return undefined
  const data = read(parsed.data.data)
  if (data === undefined) return undefined
  return { data, asOf: toUtc(parsed.data.asOf), consent: consentOf(parsed.data.consent) }
}

function consentOf(consent: z.output<ReturnType<typeof envelope>>['consent']) {
  return consent ? { ...consent, expiresAt: toUtc(consent.expiresAt) } : null
}

function toUtc(instant: string | null): string | null {
  return instant === null ? null : new Date(instant).toISOString()
}

/** Falls back to the meaning of the status. */
export function gatewayReason(response: IncomingResponse): MissingReason {
  try {
    const problem = GatewayProblem.safeParse(JSON.parse(response.body.toString('utf8')))
    if (problem.success && response.status < 500) return problem.data.code
  } catch {
    // Not JSON: use the status.
  }
  return reasonOfStatus(response.status)
}
