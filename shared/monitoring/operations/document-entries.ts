import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { isUuid } from '../../uuid.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { CONFIG_DOCUMENT_VERSION } from '../projects/config-document.ts'

/** What a configuration document lists. */
export type DocumentMember = 'channels' | 'checks' | 'policies' | 'windows'

/** The entries of one list of a document; none when it has no such list. @throws ValidationError */
export function entries(document: JsonObject, member: DocumentMember): JsonObject[] {
  if (document.version !== undefined && document.version !== CONFIG_DOCUMENT_VERSION) {
    throw new ValidationError('version is not one that can be read')
  }
  const list = document[member]
  if (list === undefined) return []
  if (!Array.isArray(list) || !list.every(isObject)) throw new ValidationError(`${member} is not an array of objects`)
  return list
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @throws ValidationError unless it is a uuid in its usual form */
export function identity(value: JsonValue | undefined, member: string): string {
  if (typeof value === 'string' && isUuid(value)) return value
  throw new ValidationError(`${member} is not a uuid; export with the read-write key`)
}

/** Says in which entry of the document something is wrong. */
export async function locating(where: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ValidationError) throw new ValidationError(`${where}: ${error.message}`, error.errors)
    throw error
  }
}

/** Inserts a row under the identity that a document gives it. @throws ValidationError when another project has that one */
export async function insertAs(tx: Knex, what: string, insert: (savepoint: Knex) => Promise<unknown>): Promise<void> {
  try {
    await tx.transaction(insert)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '23505')) throw error
    throw new ValidationError(`id cannot be used: give the ${what} a new uuid`)
  }
}
