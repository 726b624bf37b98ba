import type { Request } from 'express'
import { JsonParseError } from '#shared/canonical/json-parser.ts'
import { type JsonValue, parseJsonBytes as parseStrictly } from '#shared/canonical/parse-json.ts'
import { type FieldError, ValidationError } from '#shared/errors.ts'
import { limitValues, readBody } from './body.ts'
import { UnsupportedMediaTypeError } from './request-safety.ts'

export const JSON_LIMIT = 1_048_576

/**
 * Maximum values of a JSON body under `/v1`: requests need less than a tenth, and each costs time of the event loop.
 */
const MAX_VALUES = 20_000

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;\s*charset=(?:"utf-8"|utf-8)\s*)?$/i

/**
 * Reads the body as JSON without ambiguity: UTF-8, no duplicate name, no number that a double changes.
 * @throws UnsupportedMediaTypeError, PayloadTooLargeError, ValidationError
 */
export async function readJson(request: Request, limit = JSON_LIMIT): Promise<JsonValue> {
  return parseOf(request, await readJsonBytes(request, limit))
}

/** Reads an optional body: without bytes and type it is an empty object. */
export async function readOptionalJson(request: Request): Promise<JsonValue> {
  const isTyped = request.headers['content-type'] !== undefined
  const bytes = isTyped ? await readJsonBytes(request) : await readBody(request, JSON_LIMIT)
  if (bytes.length === 0) return {}
  return parseOf(request, isTyped ? bytes : await readJsonBytes(request))
}

/** @throws ValidationError, and UnavailableError above the budget of the process */
export function parseOf(request: Request, bytes: Buffer): JsonValue {
  // A value takes two bytes or more.
  limitValues(request, Math.min(MAX_VALUES, bytes.length / 2))
  return parseJsonBytes(bytes)
}

/** Returns the bytes of a JSON body, for signatures over them. @throws as `readJson`, except for its content */
export async function readJsonBytes(request: Request, limit = JSON_LIMIT): Promise<Buffer> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new UnsupportedMediaTypeError('the body must be application/json in UTF-8')
  }
  return await readBody(request, limit)
}

/** @throws ValidationError naming the member */
export function parseJsonBytes(bytes: Buffer, maxValues = MAX_VALUES): JsonValue {
  try {
    return parseStrictly(bytes, { maxValues })
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error
    const message = error.fault === 'ENCODING' ? 'the body is not UTF-8' : error.message
    throw invalidJson({ path: error.path, code: error.fault, message })
  }
}

function invalidJson(error: FieldError): ValidationError {
  return new ValidationError(`the body is not acceptable JSON: ${error.message}`, [error])
}
