import type { Knex } from 'knex'
import { listInvitations } from '#shared/tenancy/accounts/link-store.ts'
import { may, type Role, roleMeanings, roles } from '#shared/tenancy/accounts/roles.ts'
import { listMembers, type Member, type Membership } from '#shared/tenancy/accounts/store.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { ButtonForm, FieldForm, Form } from '../forms/form.tsx'
import { type Column, Table } from '../lists/list.tsx'
import { Ago, Copyable } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'
import type { Workspace } from '../shell/workspace.ts'

export type LoadedOrganisation = Workspace & { organisation: Membership }

export interface InvitationState {
  /** submitted address of a refused invitation */
  email?: string
  problem?: string
  /** shown only once */
  link?: string
  invited?: string
  isSent?: boolean
}

export interface MembersView {
  name: string
  base: string
  mayManage: boolean
  /** roles that the user may assign */
  offered: readonly Role[]
  people: readonly Person[]
  /** empty without the right to manage members */
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
        <Table label="People" variant="" columns={personColumns({ context, view })} rows={view.people} />
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

function personColumns({ context, view }: Props): Column<Person>[] {
  return [
    {
      title: 'Person',
      variant: 'breakable',
      cell: ({ name, email, isSelf }) => (
        <>
          {name || email} {isSelf && <span class="pill">you</span>}
          {name && <small>{email}</small>}
        </>
      ),
    },
    {
      title: 'Role',
      cell: ({ userUuid, email, role, isChangeable }) =>
        isChangeable ? (
          <Form context={context} action={`${view.base}/members/${userUuid}/role`} class="inline">
            <label class="hidden" for={`role-${userUuid}`}>
              Role of {email}
            </label>
            <select id={`role-${userUuid}`} name="role">
              {view.offered.map((one) => (
                <option key={one} value={one} selected={one === role}>
                  {one}
                </option>
              ))}
            </select>
            <button type="submit">Change</button>
          </Form>
        ) : (
          role
        ),
    },
    {
      title: 'Remove',
      isTitleHidden: true,
      cell: ({ userUuid, email, isChangeable }) =>
        isChangeable && (
          <ButtonForm
            context={context}
            action={`${view.base}/members/${userUuid}/remove`}
            confirm={`Remove ${email} from ${view.name}? They lose access at once.`}
            yes="Remove"
            label="Remove"
            variant="danger"
            name={`Remove ${email}`}
          />
        ),
    },
  ]
}

function Invite({ context, view, state }: Props & { state: InvitationState }) {
  return (
    <section class="card" aria-labelledby="invite">
      <h2 id="invite">Invite a person</h2>
      <FieldForm
        context={context}
        action={`${view.base}/invitations`}
        class="inline-fields"
        problem={state.problem}
        items={[
          { name: 'email', label: 'E-mail address', kind: 'email', value: state.email, isRequired: true },
          {
            name: 'role',
            label: 'Role',
            kind: 'select',
            value: 'member',
            options: view.offered.map((role) => ({ value: role, label: role })),
          },
        ]}
        submit="Invite"
        isMain
      />
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
            <ButtonForm
              context={context}
              action={`${view.base}/invitations/${one.id}/withdraw`}
              confirm={`Withdraw the invitation of ${one.email}? Its link stops working.`}
              yes="Withdraw"
              label="Withdraw"
              name={`Withdraw the invitation of ${one.email}`}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
