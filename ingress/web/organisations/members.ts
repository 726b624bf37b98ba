import { h } from 'preact'
import { ConflictError, NotFoundError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { deleteInvitations, insertLink } from '#shared/tenancy/accounts/link-store.ts'
import { isRole, may, normalEmail, type Role, roleMeanings } from '#shared/tenancy/accounts/roles.ts'
import { deleteMembership, listMembers, lockOrganisation, updateRole } from '#shared/tenancy/accounts/store.ts'
import { harmlessName } from '#shared/tenancy/mails/mail.ts'
import { queueLinkMail } from '#shared/tenancy/operations/link-mails.ts'
import { throttleInvitation } from '../account/throttle.ts'
import { audit } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { sendPage } from '../shell/layout.tsx'
import { newToken } from '../shell/sessions.ts'
import { deny, requireOrganisation } from '../shell/workspace.ts'
import { type InvitationState, type LoadedOrganisation, loadMembers, MembersPage } from './members-page.tsx'

export function memberPages(pages: Pages): void {
  pages.get('/organisations/:organisation/members', async (context) => {
    const { secret: link, about } = context.flash
    const [state, invited] = (about ?? '').split(' ')
    const opened = await requireOrganisation(context, 'view')
    await show(context, opened, link && invited ? { link, invited, isSent: state === 'sent' } : {})
  })
  pages.post('/organisations/:organisation/invitations', invite)
  pages.post('/organisations/:organisation/invitations/:id/withdraw', withdraw)
  pages.post('/organisations/:organisation/members/:user/role', changeRole)
  pages.post('/organisations/:organisation/members/:user/remove', removeMember)
}

function back(context: Context, done: string): void {
  redirect(context, `/organisations/${context.params.organisation}/members?done=${done}`)
}

async function invite(context: FormContext): Promise<void> {
  const opened = await requireOrganisation(context, 'manage')
  const { organisation, session } = opened
  const { deps, form } = context
  const typed = field(form, 'email')
  const [email, role] = [normalEmail(typed), field(form, 'role')]
  if (email === null || !isRole(role)) {
    return await show(context, opened, { email: typed, problem: 'That is not an e-mail address.' }, 400)
  }
  if (role === 'owner' && !may(organisation.role, 'own')) {
    return await deny(context, session, organisation.organisationId)
  }
  const members = await listMembers(deps.db, organisation.organisationId)
  if (members.some((member) => member.email === email)) {
    return await show(context, opened, { email: typed, problem: `${email} belongs to the organisation already.` }, 409)
  }
  await throttleInvitation(context, session.userId, organisation.organisationId, email)
  const [token, mailedToken] = [newToken(), newToken()]
  const isSent = await deps.outbox.run(async (tx, enqueue) => {
    await deleteInvitations(tx, organisation.organisationId, { email })
    await insertLink(tx, {
      purpose: 'invitation',
      digest: deps.secrets.digest(`invitation:${token}`),
      // Only the mail contains this one, so its use proves access to the mailbox.
      mailedDigest: deps.secrets.digest(`invitation:${mailedToken}`),
      organisationId: organisation.organisationId,
      email,
      role,
    })
    await audit(context, organisation.organisationId, 'invitation.sent', `${email} as ${role}`, tx)
    const sender = harmlessName(members.find(({ userId }) => userId === session.userId)?.name ?? '')
    const label = sender === null ? session.email : `${sender} (${session.email})`
    return await queueLinkMail(tx, enqueue, deps, {
      to: email,
      subject: `${label} invites you to ${deps.config.siteName}`,
      lead: `${label} invites you to join ${organisationLabel(organisation.organisationName)} on ${deps.config.siteName} as ${role}: ${roleMeanings[role]}. The link is valid for one week and works once.`,
      action: 'Accept the invitation',
      path: `/invitations/${mailedToken}`,
      foot: 'If you do not know the sender, ignore this mail.',
    })
  })
  const path = `/organisations/${organisation.organisationUuid}/members`
  const secret = `${deps.config.publicUrl}/invitations/${token}`
  setFlash(context, path, { secret, about: `${isSent ? 'sent' : 'unsent'} ${email}` })
  redirect(context, path)
}

function organisationLabel(name: string): string {
  const shown = harmlessName(name)
  return shown === null ? 'an organisation' : `the organisation "${shown}"`
}

async function withdraw(context: FormContext): Promise<void> {
  const { organisation } = await requireOrganisation(context, 'manage')
  const id = Number(context.params.id)
  if (!Number.isSafeInteger(id)) throw new NotFoundError('There is no such invitation.')
  await deleteInvitations(context.deps.db, organisation.organisationId, { id })
  await audit(context, organisation.organisationId, 'invitation.withdrawn')
  back(context, 'invitation-withdrawn')
}

async function changeRole(context: FormContext): Promise<void> {
  const opened = await requireOrganisation(context, 'manage')
  const role = field(context.form, 'role')
  if (!isRole(role)) throw new NotFoundError('There is no such role.')
  await changeMember(context, opened, role)
  back(context, 'role-changed')
}

async function removeMember(context: FormContext): Promise<void> {
  const opened = await requireOrganisation(context, 'manage')
  await changeMember(context, opened, null)
  back(context, 'member-removed')
}

/** Members cannot change themselves, only owners make, change or remove owners, and one owner always remains. */
async function changeMember(context: FormContext, opened: LoadedOrganisation, role: Role | null): Promise<void> {
  const { organisation, session } = opened
  const { organisationId } = organisation
  const userUuid = context.params.user
  if (userUuid === session.userUuid) return await deny(context, session, organisationId)
  const members = await listMembers(context.deps.db, organisationId)
  const target = members.find((member) => member.userUuid === userUuid)
  if (!target) throw new NotFoundError('There is no such person in the organisation.')
  if ((target.role === 'owner' || role === 'owner') && !may(organisation.role, 'own')) {
    return await deny(context, session, organisationId)
  }
  await transaction(context.deps.db, async (tx) => {
    await lockOrganisation(tx, organisationId)
    const owners = (await listMembers(tx, organisationId)).filter((member) => member.role === 'owner')
    if (role !== 'owner' && owners.length === 1 && owners[0]?.userId === target.userId) {
      throw new ConflictError('An organisation needs an owner: make another person an owner first.')
    }
    if (role === null) {
      await deleteMembership(tx, organisationId, target.userId)
      await audit(context, organisationId, 'member.removed', target.email, tx)
    } else {
      await updateRole(tx, organisationId, target.userId, role)
      await audit(context, organisationId, 'member.role-changed', `${target.email} to ${role}`, tx)
    }
  })
}

async function show(context: Context, opened: LoadedOrganisation, state: InvitationState, status = 200): Promise<void> {
  const view = await loadMembers(context.deps, opened)
  sendPage(
    context,
    { title: `People of ${view.name}`, workspace: opened, area: 'members' },
    h(MembersPage, { context, view, state }),
    status,
  )
}
