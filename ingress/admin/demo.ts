import type { Knex } from 'knex'
import { insertDemo } from '#shared/monitoring/operations/insert-demo.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { type Command, operatorOf, UsageError } from './command.ts'

/** Makes a project to look at: checks of every kind with a history, in a database that holds nothing else. */
export const demoCommand: Command = {
  noun: 'demo',
  summary: 'Fill an empty project with 60 checks and 90 days of history, to look at the pages',
  help: ['Refuses a database that holds other checks.'],
  options: { history: { description: 'with 90 days of outages and pings' } },
  async run(given, context) {
    const project = await onlyEmptyProject(context.db)
    const days = given.history === true ? 90 : 0
    const made = await transaction(context.db, (tx) => insertDemo(tx, operatorOf(context), project, days, context))
    return {
      json: made,
      text: `${made.checks} checks and ${made.flips} changes of status, in the project ${project.name}`,
    }
  },
}

interface EmptyProject {
  id: number
  uuid: string
  name: string
  organisationId: number
}

/** @throws UsageError when there is other data, or no project */
async function onlyEmptyProject(db: Knex): Promise<EmptyProject> {
  if (await db('checks').first('id')) throw new UsageError('this database holds checks: a demo is made in an empty one')
  const project = await db('projects').orderBy('id').first('id', 'uuid', 'name', 'organisation_id AS organisationId')
  if (!project) throw new UsageError('there is no project: make one with “project create”')
  return { ...project, id: Number(project.id), organisationId: Number(project.organisationId) }
}
