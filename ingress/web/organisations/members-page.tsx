import { roleMeanings, roles } from '#shared/tenancy/accounts/roles.ts'
import { microsOfDate } from '#shared/time.ts'
import { Ago } from '../components/basics.tsx'
import { Copyable, Form, SelectField, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import type { Context } from '../shell/context.ts'
import type { InvitationState, MembersView, Person } from './members-view.ts'

interface Props {
  context: Context
  view: MembersView
}

export function MembersPage({ context, view, state }: Props & { state: InvitationState }) {
  return (
    <>
      <h1>People of {view.name}</h1>
      <div class="settings">
        {state.link !== undefined && <NewInvitation link={state.link} state={state} />}
        <People context={context} view={view} />
        {view.mayManage && <Invite context={context} view={view} state={state} />}
        {view.invitations.length > 0 && <OpenInvitations context={context} view={view} />}
      </div>
    </>
  )
}

function NewInvitation({ link, state }: { link: string; state: InvitationState }) {
  return (
    <section class="card secret-once" role="status">
      <h2>{state.invited} is invited</h2>
      <p>
        {state.isSent
          ? 'A mail is on its way. You can also hand over this link yourself; it is not shown again.'
          : 'No mail could be sent: hand over this link yourself. It is not shown again.'}
      </p>
      <Copyable text={link} label="invitation link" />
    </section>
  )
}

function People({ context, view }: Props) {
  return (
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
          {view.people.map((member) => (
            <PersonRow key={member.userUuid} context={context} view={view} member={member} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function PersonRow({ context, view, member }: Props & { member: Person }) {
  return (
    <tr>
      <td class="breakable">
        {member.name || member.email} {member.isSelf && <span class="pill">you</span>}
        {member.name && <small>{member.email}</small>}
      </td>
      {member.isChangeable ? (
        <>
          <td>
            <Form context={context} action={`${view.base}/members/${member.userUuid}/role`} class="inline">
              <label class="hidden" for={`role-${member.userUuid}`}>
                Role of {member.email}
              </label>
              <select id={`role-${member.userUuid}`} name="role">
                {view.offered.map((role) => (
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
              action={`${view.base}/members/${member.userUuid}/remove`}
              confirm={`Remove ${member.email} from ${view.name}? They lose access at once.`}
              yes="Remove"
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
  )
}

function Invite({ context, view, state }: Props & { state: InvitationState }) {
  return (
    <section class="card" aria-labelledby="invite">
      <h2 id="invite">Invite somebody</h2>
      <Problem text={state.problem} />
      <Form context={context} action={`${view.base}/invitations`} class="inline-fields">
        <TextField label="E-mail address" name="email" type="email" value={state.email} required />
        <SelectField
          label="Role"
          name="role"
          value="member"
          options={view.offered.map((role) => ({ value: role, label: role }))}
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
  )
}

function OpenInvitations({ context, view }: Props) {
  return (
    <section class="card" aria-labelledby="open">
      <h2 id="open">Open invitations</h2>
      <ul class="bare">
        {view.invitations.map((one) => (
          <li key={one.id} class="row">
            <span class="breakable">
              {one.email} as {one.role}, ends <Ago at={microsOfDate(one.expiresAt)} now={view.now} />
            </span>
            <Form
              context={context}
              action={`${view.base}/invitations/${one.id}/withdraw`}
              confirm={`Withdraw the invitation of ${one.email}? Its link stops working.`}
              yes="Withdraw"
            >
              <button type="submit" aria-label={`Withdraw the invitation of ${one.email}`}>
                Withdraw
              </button>
            </Form>
          </li>
        ))}
      </ul>
    </section>
  )
}
