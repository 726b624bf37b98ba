import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { generateKey, type KeyKind, keyPrefix } from '#shared/monitoring/projects/api-key.ts'
import {
  findProject,
  insertProject,
  insertProjectKey,
  listProjects,
  type Project,
} from '#shared/monitoring/projects/store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { ensureOrganisation } from '#shared/tenancy/organisations/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { type AdminContext, type Command, lines, numberOf, textOf, UsageError } from './command.ts'

const create: Command = {
  noun: 'project',
  verb: 'create',
  summary: 'Create a monitoring project and one key of each kind; the keys are shown once',
  options: {
    name: { description: 'what people call it', value: 'NAME', required: true },
    organisation: { description: "name of its owner (default: the project's name)", value: 'NAME' },
    'check-limit': { description: 'checks it may have (default: the setting CHECK_LIMIT)', value: 'N' },
  },
  async run(given, { db, secrets }) {
    const name = textOf(given, 'name')
    const checkLimit = numberOf(given, 'check-limit')
    const created = await transaction(db, async (tx) => {
      const owner = typeof given.organisation === 'string' ? given.organisation : name
      const { id: organisationId } = await ensureOrganisation(tx, owner)
      const project = await insertProject(tx, { organisationId, name, ...(checkLimit !== null && { checkLimit }) })
      return {
        projectId: project.uuid,
        name: project.name,
        apiKey: await createKey(tx, secrets, project.id, 'rw'),
        apiKeyReadonly: await createKey(tx, secrets, project.id, 'ro'),
        pingKey: await createKey(tx, secrets, project.id, 'ping'),
      }
    })
    return { json: created, text: lines(created) }
  },
}

const list: Command = {
  noun: 'project',
  verb: 'list',
  summary: 'List all projects',
  options: {},
  async run(_given, { db }) {
    const projects = await listProjects(db)
    const rows = projects.map(({ uuid, name, organisation }) => ({ projectId: uuid, name, organisation }))
    return { json: rows, text: rows.map((row) => `${row.projectId}  ${row.organisation}: ${row.name}`).join('\n') }
  },
}

export const projectCommands: readonly Command[] = [create, list]

/** Makes a key and stores its digest. A ping key is kept readable too, sealed: pages show it inside ping URLs. */
export async function createKey(db: Knex, secrets: Secrets, projectId: number, kind: KeyKind): Promise<string> {
  const key = generateKey(kind, randomBytes)
  await insertProjectKey(db, {
    projectId,
    kind,
    prefix: keyPrefix(key),
    digest: secrets.digest(key),
    ...(kind === 'ping' && { sealed: secrets.seal('ping-key', key) }),
  })
  return key
}

/** @throws UsageError when there is no such project */
export async function requireProject(uuid: string, { db }: Pick<AdminContext, 'db'>): Promise<Project> {
  const project = isUuid(uuid) ? await findProject(db, uuid) : null
  if (!project) throw new UsageError(`there is no project ${uuid}`)
  return project
}
