import type { Knex } from 'knex'
import type { NamedIntegration } from '../checks/integrations-field.ts'
import { listIntegrations } from '../integrations/store.ts'

/** The integrations of a project as requests may name them. */
export async function namedIntegrations(db: Knex, projectId: number): Promise<NamedIntegration[]> {
  const channels = await listIntegrations(db, projectId)
  return channels.map(({ uuid, name }) => ({ id: uuid, name }))
}
