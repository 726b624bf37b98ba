import { ConflictError, NotFoundError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { normalEmail } from '#shared/tenancy/accounts/email.ts'
import { deleteInvitations, insertLink, listInvitations } from '#shared/tenancy/accounts/link-store.ts'
import { isRole, may, type Role, roleMeanings, roles } from '#shared/tenancy/accounts/roles.ts'
import {
  deleteMembership,
  listMembers,
  lockOrganisation,
  type Member,
  type Membership,
  updateRole,
} from '#shared/tenancy/accounts/store.ts'
import { queueLinkMail } from '#shared/tenancy/operations/queue-link-mail.ts'
import { throttleInvitation } from '../accounts/throttle.ts'
import { Copyable, Form, SelectField, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import { Ago } from '../components/time.tsx'
import { audit } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { newToken } from '../frame/sessions.ts'
import { deny, openOrganisation, type Workspace } from '../frame/workspace.ts'

export function memberPages(pages: Pages): void {
  pages.get('/organisations/:organisation/members', async (context) => {
    await show(context, await openOrganisation(context, 'view'), {})
  })
  pages.post('/organisations/:organisation/invitations', invite)
  pages.post('/organisations/:organisation/invitations/:id/withdraw', withdraw)
  pages.post('/organisations/:organisation/members/:user/role', changeRole)
  pages.post('/organisations/:organisation/members/:user/remove', removeMember)
}

type Opened = Workspace & { organisation: Membership }

function back(context: Context, done: string): void {
  redirect(context, `/organisations/${context.params.organisation}/members?done=${done}`)
}

async function invite(context: FormContext): Promise<void> {
  const opened = await openOrganisation(context, 'manage')
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
  await throttleInvitation(context, session.userId, organisation.organisationId, email)
  const [token, mailedToken] = [newToken(), newToken()]
  const isSent = await deps.outbox.run(async (tx, enqueue) => {
    await deleteInvitations(tx, organisation.organisationId, { email })
    await insertLink(tx, {
      purpose: 'invitation',
      digest: deps.secrets.digest(`invitation:${token}`),
      // Only the mail holds this one: who comes by it has the mailbox, and not just what the inviter was shown.
      mailedDigest: deps.secrets.digest(`invitation:${mailedToken}`),
      organisationId: organisation.organisationId,
      email,
      role,
    })
    await audit(context, organisation.organisationId, 'invitation.sent', `${email} as ${role}`, tx)
    // Names are free text of whoever invites: the mail says no more than who it was.
    return await queueLinkMail(tx, enqueue, deps, {
      to: email,
      subject: `${session.email} invites you to ${deps.config.siteName}`,
      lead: `${session.email} invites you to join an organisation on ${deps.config.siteName}. The link works once, for a week:`,
      path: `/invitations/${mailedToken}`,
      foot: 'If you do not know what this is about, nothing needs to be done.',
    })
  })
  await show(context, opened, { link: `${deps.config.publicUrl}/invitations/${token}`, invited: email, isSent })
}

async function withdraw(context: FormContext): Promise<void> {
  const { organisation } = await openOrganisation(context, 'manage')
  const id = Number(context.params.id)
  if (!Number.isSafeInteger(id)) throw new NotFoundError('There is no such invitation.')
  await deleteInvitations(context.deps.db, organisation.organisationId, { id })
  await audit(context, organisation.organisationId, 'invitation.withdrawn')
  back(context, 'invitation-withdrawn')
}

async function changeRole(context: FormContext): Promise<void> {
  const opened = await openOrganisation(context, 'manage')
  const role = field(context.form, 'role')
  if (!isRole(role)) throw new NotFoundError('There is no such role.')
  await changeMember(context, opened, role)
  back(context, 'role-changed')
}

async function removeMember(context: FormContext): Promise<void> {
  const opened = await openOrganisation(context, 'manage')
  await changeMember(context, opened, null)
  back(context, 'member-removed')
}

/** Nobody changes themselves, only owners make, change or remove owners, and one owner always remains. */
async function changeMember(context: FormContext, opened: Opened, role: Role | null): Promise<void> {
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
      throw new ConflictError('An organisation needs an owner: make somebody else one first.')
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

interface State {
  email?: string
  problem?: string
  link?: string
  invited?: string
  isSent?: boolean
}

async function show(context: Context, opened: Opened, state: State, status = 200): Promise<void> {
  const { organisation, session } = opened
  const { db } = context.deps
  const mayManage = may(organisation.role, 'manage')
  const [members, invitations] = await Promise.all([
    listMembers(db, organisation.organisationId),
    mayManage ? listInvitations(db, organisation.organisationId) : [],
  ])
  const base = `/organisations/${organisation.organisationUuid}`
  const project = opened.projects.find(({ organisationId }) => organisationId === organisation.organisationId)
  const offered = roles.filter((role) => role !== 'owner' || may(organisation.role, 'own'))
  const now = context.deps.now()
  sendPage(
    context,
    {
      title: `People of ${organisation.organisationName}`,
      workspace: opened,
      ...(project && { project }),
      area: 'members',
    },
    <>
      <h1>People of {organisation.organisationName}</h1>
      <div class="settings">
        {state.link !== undefined && (
          <section class="card secret-once" role="status">
            <h2>{state.invited} is invited</h2>
            <p>
              {state.isSent
                ? 'A mail is on its way. You can also hand over this link yourself; it is not shown again.'
                : 'No mail could be sent: hand over this link yourself. It is not shown again.'}
            </p>
            <Copyable text={state.link} label="invitation link" />
          </section>
        )}
        <section class="card table-card">
          <table class="plain-table">
            <caption class="hidden">People</caption>
            <thead>
              <tr>
                <th scope="col">Person</th>
                <th scope="col">Role</th>
                <th scope="col">
                  <span class="hidden">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {members.map((member) => (
                <tr key={member.userUuid}>
                  <td class="breakable">
                    {member.name || member.email}{' '}
                    {member.userUuid === session.userUuid && <span class="pill">you</span>}
                    {member.name && <small>{member.email}</small>}
                  </td>
                  {mayManage && isChangeable(member, opened) ? (
                    <>
                      <td>
                        <Form context={context} action={`${base}/members/${member.userUuid}/role`} class="inline">
                          <label class="hidden" for={`role-${member.userUuid}`}>
                            Role of {member.email}
                          </label>
                          <select id={`role-${member.userUuid}`} name="role">
                            {offered.map((role) => (
                              <option key={role} value={role} selected={role === member.role}>
                                {role}
                              </option>
                            ))}
                          </select>
                          <button type="submit">Change</button>
                        </Form>
                      </td>
                      <td>
                        <Form
                          context={context}
                          action={`${base}/members/${member.userUuid}/remove`}
                          confirm={`Remove ${member.email}?`}
                        >
                          <button type="submit" class="danger" aria-label={`Remove ${member.email}`}>
                            Remove
                          </button>
                        </Form>
                      </td>
                    </>
                  ) : (
                    <>
                      <td>{member.role}</td>
                      <td />
                    </>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        {mayManage && (
          <section class="card" aria-labelledby="invite">
            <h2 id="invite">Invite somebody</h2>
            <Problem text={state.problem} />
            <Form context={context} action={`${base}/invitations`} class="inline-fields">
              <TextField label="E-mail address" name="email" type="email" value={state.email} required />
              <SelectField
                label="Role"
                name="role"
                value="member"
                options={offered.map((role) => ({ value: role, label: role }))}
              />
              <button type="submit" class="primary">
                Invite
              </button>
            </Form>
            <dl class="facts role-facts">
              {roles.map((role) => (
                <div key={role}>
                  <dt>{role}</dt>
                  <dd>{roleMeanings[role]}</dd>
                </div>
              ))}
            </dl>
          </section>
        )}
        {invitations.length > 0 && (
          <section class="card" aria-labelledby="open">
            <h2 id="open">Open invitations</h2>
            <ul class="bare">
              {invitations.map((one) => (
                <li key={one.id} class="row">
                  <span class="breakable">
                    {one.email} as {one.role}, ends <Ago at={one.expiresAt.getTime() * 1000} now={now} />
                  </span>
                  <Form context={context} action={`${base}/invitations/${one.id}/withdraw`}>
                    <button type="submit" aria-label={`Withdraw the invitation of ${one.email}`}>
                      Withdraw
                    </button>
                  </Form>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </>,
    status,
  )
}

function isChangeable(member: Member, { organisation, session }: Opened): boolean {
  return member.userUuid !== session.userUuid && (member.role !== 'owner' || may(organisation.role, 'own'))
}
