import { databaseName, loginUrl } from './database-admin.ts'
import type { Services } from './resolve-services.ts'

/**
 * The two addresses of a stack's database: the owner's for migrations, and that of a login which owns nothing and which
 * row security binds. Addresses given in the environment are taken as they are: with one alone, it is everybody's.
 * @param owner the database as it was found or made
 * @param password of the login that migrations make
 */
export function databaseLogins(
  owner: Pick<Services['postgres'], 'url' | 'origin'>,
  given: { url: string | undefined; ownerUrl: string | undefined },
  password: string,
): { DATABASE_URL: string; DATABASE_OWNER_URL?: string } {
  if (owner.origin === 'environment' && given.ownerUrl === undefined) return { DATABASE_URL: owner.url }
  const role = `${databaseName(owner.url)}_login`
  const own = loginUrl(owner.url, { role, password })
  const DATABASE_URL = owner.origin === 'environment' ? (given.url ?? own) : own
  return { DATABASE_URL, DATABASE_OWNER_URL: owner.url }
}
