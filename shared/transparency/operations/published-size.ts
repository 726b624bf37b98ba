import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { ValidationError } from '../../errors.ts'
import { latestCheckpoint } from '../anchoring/store.ts'

/**
 * The size of a tree that is published.
 * @param name of the input that asks for it
 * @param wanted the newest when absent
 * @throws ValidationError when it is beyond the newest checkpoint
 */
export async function publishedSize(db: Knex, env: ApiEnv, name: string, wanted: number | undefined): Promise<number> {
  const newest = (await latestCheckpoint(db, env))?.size ?? 0
  if (wanted !== undefined && wanted > newest) throw rangeError(name, `${name} is beyond the newest checkpoint`)
  return wanted ?? newest
}

/** One input that no tree has. */
export function rangeError(path: string, message: string): ValidationError {
  return new ValidationError(message, [{ path, code: 'RANGE', message }])
}
