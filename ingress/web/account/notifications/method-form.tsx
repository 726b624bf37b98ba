import { type ContactKind, sharedMembers } from '#shared/monitoring/contacts/contact-kinds.ts'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import type { ConfigObject } from '#shared/monitoring/integrations/shown-config.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import type { FieldErrors, FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { configOf, optionFields } from '../../monitoring/integrations/fields.ts'
import { itemOf } from '../../monitoring/integrations/form.tsx'
import { type Context, field } from '../../shell/context.ts'
import type { Workspace } from '../../shell/workspace.ts'

/** An integration whose server and token a contact method may use. */
export interface ViaOption {
  uuid: string
  label: string
}

export async function loadViaOptions(
  { deps }: Context,
  { projects }: Workspace,
  kind: ContactKind,
): Promise<ViaOption[]> {
  if (sharedMembers(kind).length === 0) return []
  const options: ViaOption[] = []
  for (const project of projects) {
    for (const integration of await listIntegrations(deps.db, project.id)) {
      if (integration.kind !== kind) continue
      options.push({ uuid: integration.uuid, label: `${integration.name || kind} (${project.name})` })
    }
  }
  return options
}

export interface MethodInput {
  name: string
  config: ConfigObject
  via: string | null
  recoveries: boolean
}

/** Reports of failures and recoveries are switched by the rules, not by the configuration. */
function fieldsOfKind(kind: IntegrationKind) {
  return optionFields(kind).filter(({ name }) => name !== 'down' && name !== 'up')
}

export function inputOf(form: URLSearchParams, kind: IntegrationKind): MethodInput {
  return {
    name: field(form, 'name'),
    config: configOf(fieldsOfKind(kind), form),
    via: field(form, 'via') || null,
    recoveries: form.has('recoveries'),
  }
}

interface Props {
  context: Context
  action: string
  kind: IntegrationKind
  contactKind: ContactKind
  input: MethodInput
  viaOptions: readonly ViaOption[]
  /** without settings: the address of the account */
  isAccount: boolean
  isNew: boolean
  problem: string | null
  errors: FieldErrors
}

export function MethodForm(props: Props) {
  const { context, action, kind, contactKind, input, viaOptions, isAccount, isNew, problem, errors } = props
  const shared = sharedMembers(contactKind)
  const option = (chosen: ReturnType<typeof fieldsOfKind>[number]) =>
    itemOf(chosen, { config: input.config, others: [], isNew, errors })
  const fields = isAccount ? [] : fieldsOfKind(kind)
  const own = fields.filter(({ name }) => !shared.includes(name))
  const server = fields.filter(({ name }) => shared.includes(name))
  const via: FormItem[] =
    viaOptions.length === 0 || isAccount
      ? []
      : [
          {
            name: 'via',
            label: 'Sent by',
            kind: 'select',
            value: input.via ?? '',
            options: [
              { value: '', label: 'My own server and token' },
              ...viaOptions.map(({ uuid, label }) => ({ value: uuid, label: `Integration ${label}` })),
            ],
            hint: 'An integration of a project provides server and token. You enter only the recipient.',
          },
        ]
  const serverItems: FormItem[] =
    server.length === 0
      ? []
      : viaOptions.length === 0
        ? server.map(option)
        : [{ summary: 'My own server and token', isOpen: input.via === null && !isNew, items: server.map(option) }]
  return (
    <EditForm
      context={context}
      action={action}
      errors={problem === null ? named(errors) : new Map([['', problem]])}
      items={[
        { name: 'name', label: 'Name', value: input.name, maxLength: 100, hint: 'For example “work phone”.' },
        ...via,
        ...own.map(option),
        ...serverItems,
        {
          name: 'recoveries',
          label: 'Send recoveries',
          kind: 'check',
          value: input.recoveries ? 'on' : '',
        },
      ]}
      submit={isNew ? 'Add' : 'Save'}
      cancel="/account/notifications"
    />
  )
}

function named(errors: FieldErrors): FieldErrors {
  return new Map([...errors].map(([name, text]) => [name === 'via' ? name : `option-${name}`, text]))
}
