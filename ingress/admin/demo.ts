import { findEmptyProject, insertDemo } from '#shared/monitoring/pages/demo-store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { type Command, operatorOf, UsageError } from './command.ts'

/** Creates a project with checks of every kind and their history, in an empty database only. */
export const demoCommand: Command = {
  noun: 'demo',
  summary: 'Fill an empty project with 60 checks and 90 days of history, to look at the pages',
  help: ['Refuses a database that holds other checks.'],
  options: { history: { description: 'with 90 days of outages and pings' } },
  async run(given, context) {
    const project = await findEmptyProject(context.db)
    if (project === 'taken') throw new UsageError('this database holds checks: a demo is made in an empty one')
    if (project === null) throw new UsageError('there is no project: make one with “project create”')
    const days = given.history === true ? 90 : 0
    const made = await transaction(context.db, (tx) => insertDemo(tx, operatorOf(context), project, days, context))
    return {
      json: made,
      text: `${made.checks} checks, ${made.flips} changes of status and ${made.incidents} incidents, in the project ${project.name}`,
    }
  },
}
