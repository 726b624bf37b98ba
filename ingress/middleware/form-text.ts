import type { IncomingMessage } from 'node:http'
import type { Request } from 'express'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { type JsonBody, type ParseLimits, parseInSteps, VALUES_PER_STEP } from '#shared/monitoring/checks/json-body.ts'
import { createTimeSlices } from '#shared/platform/process/time-slices.ts'
import { limitValues } from './body.ts'
import { AbortedRequestError } from './request-safety.ts'

const MAX_NAME = 100

/**
 * Parses a query or a form (`application/x-www-form-urlencoded`).
 * @throws ValidationError naming a field with U+0000, which PostgreSQL text cannot contain
 */
export function parseFormText(text: string): URLSearchParams {
  const fields = new URLSearchParams(text)
  for (const [name, value] of fields) {
    if (!name.includes('\0') && !value.includes('\0')) continue
    const path = name.replaceAll('\0', '').slice(0, MAX_NAME)
    const message = `${path} must not contain U+0000`
    throw new ValidationError(message, [{ path, code: 'FORMAT', message }])
  }
  return fields
}

/**
 * Parses the query without Express's rules for brackets: every value is text.
 * @throws ValidationError as `parseFormText`
 */
export function queryOf(request: Request): URLSearchParams {
  const at = request.originalUrl.indexOf('?')
  return parseFormText(at === -1 ? '' : request.originalUrl.slice(at + 1))
}

/** @throws NotFoundError for U+0000, which no stored name contains */
export function pathText(value: unknown): string {
  const text = String(value)
  if (text.includes('\0')) throw new NotFoundError('there is nothing here')
  return text
}

/**
 * Returns the chunks of a body. The request stays open for a response if they are not all read.
 * @throws AbortedRequestError
 */
export async function* bodyPieces(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* request.iterator({ destroyOnReturn: false })
  } catch (error) {
    throw request.complete ? error : new AbortedRequestError('the request ended early')
  }
  if (!request.complete) throw new AbortedRequestError('the request ended early')
}

/**
 * Parses a long JSON text in slices, so that other requests are served in between.
 * @throws UnavailableError above the budget of the process
 */
export async function parseInSlices(request: IncomingMessage, raw: Buffer, limits: ParseLimits): Promise<JsonBody> {
  const slices = createTimeSlices()
  const parsing = parseInSteps(raw, limits)
  for (;;) {
    if (slices.isUsedUp()) await slices.yieldIfNeeded()
    const step = parsing.next()
    if (step.done) return step.value
    limitValues(request, VALUES_PER_STEP)
  }
}
