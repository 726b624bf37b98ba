import { createProjectWithKeys } from '#shared/monitoring/operations/projects.ts'
import { findProject, listProjects, type Project } from '#shared/monitoring/projects/store.ts'
import { hasOwner } from '#shared/tenancy/accounts/store.ts'
import { listOrganisations } from '#shared/tenancy/organisations/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { type AdminContext, type Command, lines, numberOf, operatorOf, textOf, UsageError } from './command.ts'

const create: Command = {
  noun: 'project',
  verb: 'create',
  summary: 'Create a monitoring project and one key of each kind; the keys are shown once',
  examples: ['project create --name Backups', 'project create --name Backups --organisation Acme --check-limit 50'],
  options: {
    name: { description: 'name of the project', value: 'NAME', required: true },
    organisation: {
      description:
        "name of its owner, created if it does not exist (default: the only organisation; if there are several, a new one with the project's name)",
      value: 'NAME',
    },
    'check-limit': { description: 'checks it may have (default: the setting CHECK_LIMIT)', value: 'N' },
  },
  async run(options, context) {
    const name = textOf(options, 'name')
    const checkLimit = numberOf(options, 'check-limit')
    const organisations = await listOrganisations(context.db)
    const [only, another] = organisations
    const usual = only !== undefined && another === undefined ? only.name : name
    const organisationName = typeof options.organisation === 'string' ? options.organisation : usual
    const input = { name, owner: { organisationName }, ...(checkLimit !== null && { checkLimit }) }
    const { project, keys } = await createProjectWithKeys(context.db, operatorOf(context), input, context)
    const created = {
      projectId: project.uuid,
      name: project.name,
      apiKey: keys.rw,
      apiKeyReadonly: keys.ro,
      pingKey: keys.ping,
      organisation: organisationName,
    }
    const existing = organisations.find((one) => one.name === organisationName)
    if (existing !== undefined && existing.people > 0) return { json: created, text: lines(created) }
    const organisation = `${organisationName} (${existing ? '' : 'new, '}no members)`
    const remedy = (await hasOwner(context.db)) ? NO_MEMBERS : NOT_SET_UP
    return { json: created, text: `${lines({ ...created, organisation })}\n${remedy}` }
  },
}

const NO_MEMBERS =
  'Only members see the project on the pages. Add one with user create --organisation, or create projects with --organisation and a name from organisation list.'
const NOT_SET_UP = 'The first owner, who signs up with setup-link, becomes its member.'

const list: Command = {
  noun: 'project',
  verb: 'list',
  summary: 'List all projects',
  options: {},
  async run(_options, { db }) {
    const projects = await listProjects(db)
    const rows = projects.map(({ uuid, name, organisation }) => ({ projectId: uuid, name, organisation }))
    return { json: rows, text: rows.map((row) => `${row.projectId}  ${row.organisation}: ${row.name}`).join('\n') }
  },
}

export const projectCommands: readonly Command[] = [create, list]

/** @throws UsageError if the project does not exist */
export async function requireProject(uuid: string, { db }: Pick<AdminContext, 'db'>): Promise<Project> {
  const project = isUuid(uuid) ? await findProject(db, uuid) : null
  if (!project) throw new UsageError(`there is no project ${uuid}`)
  return project
}
