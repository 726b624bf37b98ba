import type { Knex } from 'knex'
import { CodedError } from '#shared/errors.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { createIntegration, toggleIntegration } from '#shared/monitoring/operations/integrations.ts'
import type { Project } from '#shared/monitoring/projects/store.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Actor } from '#shared/tenancy/actor.ts'
import { SelectField, TextField } from '../../forms/inputs.tsx'
import { field } from '../../shell/context.ts'
import { unavailableReason } from '../integrations/catalogue.ts'
import { fieldErrors, labelOfKind } from '../integrations/labels.ts'

/** Kinds that need one value; others have a separate form. */
const OPTION_OF_KIND = {
  email: 'value',
  slack: 'url',
  msteamsw: 'url',
  discord: 'url',
  googlechat: 'url',
  mattermost: 'url',
  rocketchat: 'url',
  ntfy: 'topic',
  webhook: 'url_down',
} as const

type AddableKind = keyof typeof OPTION_OF_KIND

/** An integration that the form of a new check creates with it. */
export interface Added {
  kind: AddableKind
  value: string
}

/** Returns null if the form adds no integration. */
export function readAddedIntegration(form: URLSearchParams): Added | null {
  const kind = form.get('new_kind') ?? ''
  const value = field(form, 'new_value')
  return isAddable(kind) && value !== '' ? { kind, value } : null
}

/** Returns the problem of the value; undefined if it is valid. */
export function problemOfAdded({ kind, value }: Added): string | undefined {
  const option = OPTION_OF_KIND[kind]
  return fieldErrors(requireAddable(kind), { [option]: value }, true).get(option)
}

/**
 * Creates the integration and assigns it to the check.
 * @returns the reason if it is refused, for example after too many requests for consent; else null
 */
export async function createAdded(
  db: Knex,
  actor: Actor,
  { project, check, added }: { project: Project; check: Check; added: Added },
  deps: Parameters<typeof createIntegration>[3],
): Promise<string | null> {
  const { kind, value } = added
  try {
    const name = await unusedName(db, project, kind === 'email' ? value.slice(0, MAX_BASE) : labelOfKind(kind))
    const input = { project, kind, name, config: { [OPTION_OF_KIND[kind]]: value } }
    const integration = await createIntegration(db, actor, input, deps)
    await toggleIntegration(db, actor, { project, check, integrationUuid: integration.uuid })
    return null
  } catch (error) {
    if (!(error instanceof CodedError)) throw error
    return error.message
  }
}

/** Leaves space for a number within the limit of a name. */
const MAX_BASE = 95

/** Adds a number if the project has an integration of that name. A URL may contain a secret, so it is not a name. */
async function unusedName(db: Knex, project: Project, base: string): Promise<string> {
  const names = new Set((await listIntegrations(db, project.id)).map(({ name }) => name))
  let name = base
  for (let n = 2; names.has(name); n++) name = `${base} ${n}`
  return name
}

/** @param props.added what the user has entered; the fields are empty without it */
export function AddIntegration(props: {
  config: Pick<Config, 'smtpUrl' | 'twilioAccount' | 'appriseUrl'>
  base: string
  added: Added | null
  error: string | undefined
}) {
  const kinds = Object.keys(OPTION_OF_KIND).filter((kind) => unavailableReason(kind, props.config) === null)
  return (
    <>
      <div class="columns">
        <SelectField
          label="Add an integration"
          name="new_kind"
          value={props.added?.kind ?? kinds[0] ?? ''}
          options={kinds.map((kind) => ({ value: kind, label: labelOfKind(kind) }))}
        />
        <TextField
          label="Its e-mail address, webhook URL or topic"
          name="new_value"
          value={props.added?.value}
          error={props.error}
          maxLength={1000}
          hint="It is created with the check. Leave empty to add none."
        />
      </div>
      <p class="hint">
        For other services, <a href={`${props.base}/integrations/new`}>create an integration</a> first.
      </p>
    </>
  )
}

function isAddable(kind: string): kind is AddableKind {
  return Object.hasOwn(OPTION_OF_KIND, kind)
}

function requireAddable(kind: AddableKind): IntegrationKind {
  const found = findKind(kind)
  if (!found) throw new Error(`there is no kind ${kind}`)
  return found
}
