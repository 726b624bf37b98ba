import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import type { Note } from '../move-in/imported.ts'
import { API_KEY_LENGTH, type KeyKind, keyPrefix } from '../projects/api-key.ts'
import { findKeyOwner, insertProjectKey, type Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'

/** Keys of another service that shall work here too. */
export interface ImportedKeys {
  pingKey?: string | undefined
  apiKey?: string | undefined
}

/** @throws ValidationError for a key of another form; the message does not contain it */
export function checkImportedKeys({ pingKey, apiKey }: ImportedKeys): void {
  if (pingKey !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(pingKey)) {
    throw new ValidationError('ping_key must be 1 to 64 of the characters A-Z, a-z, 0-9, - and _')
  }
  if (apiKey !== undefined && apiKey.length !== API_KEY_LENGTH) {
    throw new ValidationError(`api_key must have ${API_KEY_LENGTH} characters to be kept`)
  }
}

/**
 * Returns the keys that a project can take, and the reasons for the others. Use it for keys that were read and not given,
 * because such a key must not stop an import.
 */
export async function usableKeys(
  db: Knex,
  project: Project,
  { pingKey, apiKey }: ImportedKeys,
  { secrets }: Pick<OperationDeps, 'secrets'>,
): Promise<{ keys: ImportedKeys; notTaken: Note[] }> {
  const notTaken: Note[] = []
  const usable = async (subject: string, key: ImportedKeys) => {
    try {
      checkImportedKeys(key)
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error
      notTaken.push({ subject, reason: error.message })
      return false
    }
    const owner = await findKeyOwner(db, secrets.digests(key.pingKey ?? key.apiKey ?? ''))
    if (!owner || (owner.projectId === project.id && !owner.isRevoked)) return true
    notTaken.push({ subject, reason: 'it is or was a key of this service' })
    return false
  }
  const keys: ImportedKeys = {
    ...(pingKey !== undefined && (await usable('ping key', { pingKey })) && { pingKey }),
    ...(apiKey !== undefined && (await usable('API key', { apiKey })) && { apiKey }),
  }
  return { keys, notTaken }
}

/**
 * Adds keys to a project, so that existing addresses and clients continue to work. A key that the project has stays.
 * @throws ValidationError if another project has or had a key; the message does not contain it
 */
export async function addImportedKeys(
  tx: Knex,
  actor: Actor,
  { project, keys }: { project: Project; keys: ImportedKeys },
  { secrets }: Pick<OperationDeps, 'secrets'>,
): Promise<void> {
  checkImportedKeys(keys)
  const wanted: [KeyKind, string | undefined, string][] = [
    ['ping', keys.pingKey, 'ping_key'],
    ['rw', keys.apiKey, 'api_key'],
  ]
  for (const [kind, key, member] of wanted) {
    if (key === undefined) continue
    const owner = await findKeyOwner(tx, secrets.digests(key))
    if (owner?.projectId === project.id && owner.kind === kind && !owner.isRevoked) continue
    if (owner) throw new ValidationError(`${member} cannot be used: it is or was a key of this service`)
    await insertProjectKey(tx, {
      projectId: project.id,
      kind,
      prefix: keyPrefix(key),
      digest: secrets.digest(key),
      name: 'imported',
      createdBy: auditedActor(actor).actor,
      ...(kind === 'ping' && { sealed: secrets.seal('ping-key', key) }),
    })
  }
}
