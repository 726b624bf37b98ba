import type { Knex } from 'knex'
import { listChannels } from '../channels/store.ts'
import type { NamedChannel } from '../checks/channels-field.ts'

/** The integrations of a project as requests may name them. */
export async function namedChannels(db: Knex, projectId: number): Promise<NamedChannel[]> {
  const channels = await listChannels(db, projectId)
  return channels.map(({ uuid, name }) => ({ id: uuid, name }))
}
