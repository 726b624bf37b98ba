import { createDemo } from '#shared/monitoring/operations/demo.ts'
import { type Command, operatorOf } from './command.ts'

export const demoCommand: Command = {
  noun: 'demo',
  summary: 'Create a project with 60 checks and 90 days of sample data',
  help: ['The checks go down when nothing pings them: `make demo` runs this command and then pings them.'],
  examples: ['demo', 'demo --name Trial'],
  options: { name: { description: 'name of the new project (default: Sample data)', value: 'NAME' } },
  async run(options, context) {
    const name = typeof options.name === 'string' ? options.name : 'Sample data'
    const { project, keys, ...filled } = await createDemo(context.db, operatorOf(context), { name }, context)
    const created = {
      projectId: project.uuid,
      name: project.name,
      apiKey: keys.rw,
      pingKey: keys.ping,
      page: `${context.config.publicUrl}/projects/${project.uuid}/checks`,
      ...filled,
    }
    const { checks, flips, incidents } = filled
    return {
      json: created,
      text: `${checks} checks, ${flips} changes of status and ${incidents} incidents in the project ${project.name}: ${created.page}`,
    }
  },
}
