import type { Knex } from 'knex'
import { findStatusPage, type StatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import type { KeyKind } from '#shared/monitoring/projects/api-key.ts'
import { notifiesUnknown } from '#shared/monitoring/projects/changes-store.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { type ListedKey, listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { statementsSince } from '#shared/monitoring/statements/statement-store.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { ImportState } from './import-form.tsx'

export interface SettingsState {
  /** a key that was just made: shown this once */
  newKey?: { kind: KeyKind; key: string }
  problem?: string
  /** a document that was looked at or refused */
  requested?: ImportState
}

/** The settings of a project. */
export interface SettingsView {
  uuid: string
  name: string
  /** address of the project's pages */
  base: string
  /** whether integrations hear of checks that a gap of ours made unknown */
  notifiesUnknown: boolean
  /** first day that is stated in the transparency log; null: none is */
  statedSince: string | null
  keys: readonly ListedKey[]
  decryptKey: (sealed: string) => string
  /** null when nothing is published */
  statusPage:
    | (Pick<StatusPage, 'title' | 'tags' | 'intro' | 'isGrouped' | 'logoMark'> & { path: string; url: string })
    | null
  /** what an operator puts into the configuration of Prometheus */
  scrapeConfig: string
  mayDelete: boolean
}

export async function loadSettings(
  { db, config, secrets }: { db: Knex; config: Config; secrets: Secrets },
  project: MemberProject,
  { newKey }: SettingsState,
): Promise<SettingsView> {
  const [keys, page, notifies, statedSince] = await Promise.all([
    listProjectKeys(db, project.id),
    findStatusPage(db, project.id),
    notifiesUnknown(db, project.id),
    statementsSince(db, project.id),
  ])
  const path = `/status/${page?.token}`
  return {
    uuid: project.uuid,
    name: project.name,
    base: `/projects/${project.uuid}`,
    notifiesUnknown: notifies,
    statedSince,
    keys,
    decryptKey: (sealed) => secrets.open('ping-key', sealed),
    statusPage: page && { ...page, path, url: `${config.publicUrl}${path}` },
    scrapeConfig: scrapeConfig(project.uuid, newKey?.kind === 'ro' ? newKey.key : 'READ-ONLY-KEY', config.publicUrl),
    mayDelete: may(project.role, 'own'),
  }
}

function scrapeConfig(projectUuid: string, key: string, publicUrl: string): string {
  const { protocol, host } = new URL(publicUrl)
  return `scrape_configs:\n  - job_name: checks\n    metrics_path: /projects/${projectUuid}/metrics/${key}\n    scheme: ${protocol.slice(0, -1)}\n    static_configs:\n      - targets: ['${host}']`
}
