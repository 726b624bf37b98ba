import type { Knex } from 'knex'
import { alertedIntegrations } from '#shared/monitoring/alerting/fact-store.ts'
import { membersOf, takesDigests } from '#shared/monitoring/integrations/shown-config.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from './define-worker.ts'

export interface DigestReader {
  id: number
  uuid: string
}

/** Empty if the integration is disabled. */
export interface Recipients {
  readers: DigestReader[]
  /** keep a record per check or cannot be read, so need one message per check */
  keepers: DigestReader[]
}

/** Splits by support for messages about many checks; members replace groups. `named` are ids and uuids. */
export async function digestReaders(
  tx: Knex,
  { secrets, log }: Pick<WorkerDeps, 'secrets' | 'log'>,
  named: { ids: readonly number[]; uuids: readonly string[] },
): Promise<(integration: { id: number } | { uuid: string }) => Recipients> {
  const open = (kind: string, sealedConfig: string): unknown => {
    try {
      return JSON.parse(secrets.open('integration', sealedConfig))
    } catch (error) {
      log.error({ kind, ...describeError(error) }, 'integration.not-readable')
      return undefined
    }
  }
  const found = (await alertedIntegrations(tx, named.ids, named.uuids)).map((integration) => {
    const config = open(integration.kind, integration.sealedConfig)
    return {
      ...integration,
      members: membersOf(integration.kind, config),
      isReader: config !== undefined && takesDigests(integration.kind, config),
    }
  })
  const inGroups = found.flatMap(({ members }) => members ?? [])
  const members = inGroups.length === 0 ? [] : await alertedIntegrations(tx, [], inGroups)
  const known = [
    ...found,
    ...members.map((integration) => ({
      ...integration,
      members: null,
      isReader: takesDigests(integration.kind, open(integration.kind, integration.sealedConfig)),
    })),
  ]

  return (requested) => {
    const integration = known.find((one) => ('id' in requested ? one.id === requested.id : one.uuid === requested.uuid))
    if (!integration || integration.isDisabled) return { readers: [], keepers: [] }
    const meant = integration.members
      ? known.filter(
          (one) =>
            integration.members?.includes(one.uuid) && one.projectId === integration.projectId && one.members === null,
        )
      : [integration]
    const able = new Map(meant.filter(({ isDisabled }) => !isDisabled).map((one) => [one.id, one]))
    const of = (wanted: boolean) =>
      [...able.values()]
        .filter(({ isReader }) => isReader === wanted)
        .map(({ id, uuid }): DigestReader => ({ id, uuid }))
    return { readers: of(true), keepers: of(false) }
  }
}
