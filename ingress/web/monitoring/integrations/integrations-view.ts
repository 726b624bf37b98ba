import type { Knex } from 'knex'
import { policiesOf, type StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { type ConfigObject, shownConfig } from '#shared/monitoring/integrations/shown-config.ts'
import { listIntegrations, type StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { decryptConfig, needsSettings } from '#shared/monitoring/operations/integration-config.ts'
import {
  countUsage,
  listSentMessages,
  listUsers,
  recentMessages,
  type SentMessage,
} from '#shared/monitoring/pages/integration-store.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Micros } from '#shared/time.ts'
import { MESSAGES_IN_BAR } from '../../shell/notice.tsx'
import { chosenConfig, optionFields, textOfOption } from './fields.ts'
import { labelOfKind } from './labels.ts'

const MESSAGES_SHOWN = 30
const USERS_SHOWN = 12

type UsingPolicy = Pick<StoredPolicy, 'uuid' | 'name'>

export type ListedIntegration = StoredIntegration & {
  /** an import created it without settings */
  needsSettings: boolean
  /** number of checks that use it */
  uses: number
  policies: readonly UsingPolicy[]
  /** of its last messages, oldest first */
  states: readonly SentMessage['state'][]
  /** time of the newest delivered message */
  lastSentAt: Date | null
}

export interface IntegrationListView {
  projectName: string
  /** address of the project's integrations */
  base: string
  mayEdit: boolean
  integrations: readonly ListedIntegration[]
  now: Micros
}

export async function loadIntegrations(
  { db, secrets, now }: { db: Knex; secrets: Secrets; now(): Micros },
  project: MemberProject,
): Promise<IntegrationListView> {
  const [integrations, uses, policies, recent] = await Promise.all([
    listIntegrations(db, project.id),
    countUsage(db, project.id),
    policiesOf(db, [project.id]),
    recentMessages(db, project.id, MESSAGES_IN_BAR),
  ])
  return {
    projectName: project.name,
    base: `/projects/${project.uuid}/integrations`,
    mayEdit: may(project.role, 'edit'),
    integrations: integrations.map((integration) => ({
      ...integration,
      needsSettings: needsSettings(integration, secrets),
      uses: uses.get(integration.uuid) ?? 0,
      policies: policies.filter((policy) => notifies(policy, integration.uuid)),
      states: recent.get(integration.id)?.states ?? [],
      lastSentAt: recent.get(integration.id)?.lastSentAt ?? null,
    })),
    now: now(),
  }
}

export interface IntegrationView {
  integration: StoredIntegration
  project: MemberProject
  name: string
  /** address of the integration's page */
  path: string
  mayEdit: boolean
  /** an import created it without settings */
  needsSettings: boolean
  /** newest first */
  messages: readonly SentMessage[]
  /** number of checks that use it */
  uses: number
  policies: readonly UsingPolicy[]
  /** first checks by name */
  users: readonly { uuid: string; name: string }[]
  /** null if the kind no longer exists */
  options: { kind: string; fields: readonly { name: string; label: string; text: string; isHidden: boolean }[] } | null
  now: Micros
}

export async function loadIntegration(
  { db, secrets, now }: { db: Knex; secrets: Secrets; now(): Micros },
  { integration, project }: { integration: StoredIntegration; project: MemberProject },
): Promise<IntegrationView> {
  const [messages, uses, policies, users] = await Promise.all([
    listSentMessages(db, integration.id, MESSAGES_SHOWN),
    countUsage(db, project.id),
    policiesOf(db, [project.id]),
    listUsers(db, integration.id, USERS_SHOWN),
  ])
  const kind = findKind(integration.kind)
  const mayEdit = may(project.role, 'edit')
  return {
    integration,
    project,
    name: integration.name || labelOfKind(integration.kind),
    path: `/integrations/${integration.uuid}`,
    mayEdit,
    needsSettings: needsSettings(integration, secrets),
    messages,
    uses: uses.get(integration.uuid) ?? 0,
    policies: policies.filter((policy) => notifies(policy, integration.uuid)),
    users,
    options: kind
      ? { kind: kind.label, fields: shownOptions(kind, chosenConfig(decryptConfig(integration, secrets)), mayEdit) }
      : null,
    now: now(),
  }
}

function notifies({ plan }: StoredPolicy, integrationUuid: string): boolean {
  return plan.steps.some(({ channels: integrations }) => integrations?.includes(integrationUuid))
}

/** `45 checks and 1 policy` */
export function usageText({ uses, policies }: Pick<ListedIntegration, 'uses' | 'policies'>): string {
  const checks = `${uses} ${uses === 1 ? 'check' : 'checks'}`
  if (policies.length === 0) return checks
  const notified = policies.length === 1 ? '1 policy' : `${policies.length} policies`
  return uses === 0 ? notified : `${checks} and ${notified}`
}

/** Hides texts from read-only members: URLs and request bodies can contain secrets. */
export function shownOptions(kind: IntegrationKind, config: ConfigObject, mayEdit: boolean) {
  const shown = shownConfig(kind, config)
  return optionFields(kind)
    .filter(({ type }) => type !== 'integrations')
    .map((field) => {
      const isText = !['number', 'flag', 'choice'].includes(field.type)
      const text = isText && !mayEdit ? '' : textOfOption(field, shown)
      return { name: field.name, label: field.label, text, isHidden: !text && Boolean(textOfOption(field, config)) }
    })
}
