import { transaction } from '#shared/platform/database/db.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { auditedActor } from '#shared/tenancy/actor.ts'
import { findOrganisation, listOrganisations, renameOrganisation } from '#shared/tenancy/organisations/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Command, countOf, lines, operatorOf, textOf, UsageError } from './command.ts'

const list: Command = {
  noun: 'organisation',
  verb: 'list',
  summary: 'List all organisations',
  options: {},
  async run(_options, { db }) {
    const rows = await listOrganisations(db)
    const text = rows.map((row) => {
      const counts = `${countOf(row.people, 'person', 'people')}, ${countOf(row.projects, 'project')}`
      return `${row.organisationId}  ${row.name}: ${counts}`
    })
    return { json: rows, text: text.join('\n') }
  },
}

const rename: Command = {
  noun: 'organisation',
  verb: 'rename',
  summary: 'Give an organisation another name',
  options: {
    organisation: { description: 'its id; organisation list names them', value: 'ID', required: true },
    name: { description: 'the new name', value: 'NAME', required: true },
  },
  async run(options, { db, actor }) {
    const id = textOf(options, 'organisation')
    const name = textOf(options, 'name').trim()
    if (name === '' || name.length > 100) throw new UsageError('--name takes 1 to 100 characters')
    const renamed = await transaction(db, async (tx) => {
      const organisation = isUuid(id) ? await findOrganisation(tx, id) : undefined
      if (!organisation) throw new UsageError(`there is no organisation ${id}; organisation list names them`)
      await renameOrganisation(tx, organisation.id, name)
      await insertAudit(tx, {
        ...auditedActor(operatorOf({ actor })),
        organisationId: organisation.id,
        action: 'organisation.renamed',
        target: `${organisation.name} to ${name}`,
      })
      return { organisationId: id, name }
    })
    return { json: renamed, text: lines(renamed) }
  },
}

export const organisationCommands: readonly Command[] = [list, rename]
