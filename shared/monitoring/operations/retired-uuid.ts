import type { Secrets } from '../../platform/process/secrets.ts'
import type { UsedUuid } from '../checks/store.ts'

/** Returns the digest that is stored with the uuid of a deleted check. It does not reveal the organisation. */
export function retiredOwner({ digest }: Pick<Secrets, 'digest'>, organisationId: number, uuid: string): Buffer {
  return digest(ownerText(organisationId, uuid))
}

/** Returns true if a project of the organisation may give this uuid to a check. */
export function mayUse(
  used: UsedUuid | undefined,
  organisationId: number,
  { digests }: Pick<Secrets, 'digests'>,
): boolean {
  if (used === undefined) return true
  if (!used.isRetired || used.owner === null) return false
  const { owner } = used
  return digests(ownerText(organisationId, used.uuid)).some((digest) => digest.equals(owner))
}

function ownerText(organisationId: number, uuid: string): string {
  return `retired check ${organisationId} ${uuid}`
}
