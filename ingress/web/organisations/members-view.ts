import type { Knex } from 'knex'
import { listInvitations } from '#shared/tenancy/accounts/link-store.ts'
import { may, type Role, roles } from '#shared/tenancy/accounts/roles.ts'
import { listMembers, type Member, type Membership } from '#shared/tenancy/accounts/store.ts'
import type { Micros } from '#shared/time.ts'
import type { Workspace } from '../shell/workspace.ts'

export type LoadedOrganisation = Workspace & { organisation: Membership }

/** What came of an invitation, for the page that answers it. */
export interface InvitationState {
  /** the address as it was typed, beside what is wrong with it */
  email?: string
  problem?: string
  /** shown this once */
  link?: string
  invited?: string
  isSent?: boolean
}

/** The people of an organisation, as one of them may see them. */
export interface MembersView {
  name: string
  /** address of the organisation's pages */
  base: string
  mayManage: boolean
  /** what may be made of somebody */
  offered: readonly Role[]
  people: readonly Person[]
  /** none for those who may not manage them */
  invitations: Awaited<ReturnType<typeof listInvitations>>
  now: Micros
}

export interface Person extends Pick<Member, 'userUuid' | 'name' | 'email' | 'role'> {
  isSelf: boolean
  isChangeable: boolean
}

export async function loadMembers(
  { db, now }: { db: Knex; now(): Micros },
  { organisation, session }: LoadedOrganisation,
): Promise<MembersView> {
  const { organisationId, organisationUuid, organisationName, role } = organisation
  const [mayManage, mayOwn] = [may(role, 'manage'), may(role, 'own')]
  const [members, invitations] = await Promise.all([
    listMembers(db, organisationId),
    mayManage ? listInvitations(db, organisationId) : [],
  ])
  return {
    name: organisationName,
    base: `/organisations/${organisationUuid}`,
    mayManage,
    offered: roles.filter((one) => one !== 'owner' || mayOwn),
    people: members.map((member) => {
      const isSelf = member.userUuid === session.userUuid
      const isChangeable = mayManage && !isSelf && (member.role !== 'owner' || mayOwn)
      return { ...member, isSelf, isChangeable }
    }),
    invitations,
    now: now(),
  }
}
