import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { type Entity, findEntity } from '#shared/risk/businesses/store.ts'
import { normaliseUpper } from '#shared/risk/identifiers/identifier.ts'
import { veiError } from '#shared/risk/identifiers/vei.ts'
import type { Owner } from '#shared/risk/jobs/job.ts'
import { checkedParam } from '../path-params.ts'

export const veiParam = checkedParam(veiError, {
  description: 'verified entity identifier',
  example: 'ICHLXI623BXOSHUY65HW4UDDGA',
})

/** What the organisation holds of an entity. @throws ValidationError for a wrong check character; NotFoundError */
export async function requireEntity(db: Knex, owner: Owner, vei: string): Promise<Entity> {
  const fault = veiError(vei)
  if (fault !== null) {
    const message = `vei is not valid: ${fault}`
    throw new ValidationError(message, [{ path: 'vei', code: fault, message }])
  }
  const entity = await findEntity(db, owner, normaliseUpper(vei))
  if (!entity) throw new NotFoundError('there is no such entity')
  return entity
}
