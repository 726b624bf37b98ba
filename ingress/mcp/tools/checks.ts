import { z } from 'zod'
import { ConflictError, ValidationError } from '#shared/errors.ts'
import { parseJsonBody } from '#shared/monitoring/checks/json-body.ts'
import { findCheck, listChecks } from '#shared/monitoring/checks/store.ts'
import { hasAllTags } from '#shared/monitoring/checks/tags.ts'
import { toFlipView } from '#shared/monitoring/flips/filters.ts'
import { listFlips } from '#shared/monitoring/flips/store.ts'
import { createCheck, pauseCheck, resumeCheck } from '#shared/monitoring/operations/checks.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { once } from '../idempotent.ts'
import { defineTool, IDEMPOTENT, READ_ONLY } from '../tool.ts'
import { CheckSchema, checkForAgents, checkOf, noCheck, ProjectInput, projectOf } from './check-view.ts'

const MAX_LIST = 100
const MAX_FLIPS = 100
const DAY_SECONDS = 86_400

const CheckInput = z.object({ checkId: z.string().describe('uuid of a check') })

export const checksList = defineTool({
  name: 'checks_list',
  title: 'List checks',
  description: 'Checks of a project with their status, in the order of their creation, 100 at a time.',
  scope: 'monitoring:read',
  annotations: READ_ONLY,
  input: z.strictObject({
    project: ProjectInput,
    tags: z.array(z.string()).optional().describe('only checks that have all of these tags'),
    status: z.enum(['new', 'up', 'grace', 'down', 'paused']).optional(),
    after: z.string().optional().describe('checkId of the last check of the page before'),
  }),
  output: z.object({ checks: z.array(CheckSchema), more: z.boolean() }),
  async run({ project, tags = [], status, after }, call) {
    const { id } = await projectOf(project, call)
    await call.deps.barrier.pass('all')
    const all = await listChecks(call.deps.db, id)
    const start = after === undefined ? 0 : all.findIndex(({ uuid }) => uuid === after) + 1
    const shown = all
      .slice(start)
      .filter((check) => hasAllTags(check.tags, tags))
      .map((check) => checkForAgents(check, call))
      .filter((check) => status === undefined || check.status === status)
    return { checks: shown.slice(0, MAX_LIST), more: shown.length > MAX_LIST }
  },
})

export const checkGet = defineTool({
  name: 'check_get',
  title: 'Read a check',
  description: 'One check: its schedule, status, last ping and when the next is expected.',
  scope: 'monitoring:read',
  annotations: READ_ONLY,
  input: CheckInput,
  output: CheckSchema,
  async run({ checkId }, call) {
    const { id } = await checkOf(checkId, call)
    await call.deps.barrier.pass([id])
    const check = await findCheck(call.deps.db, checkId)
    if (!check) throw noCheck()
    return checkForAgents(check, call)
  },
})

export const checkFlips = defineTool({
  name: 'check_flips',
  title: 'List changes of status',
  description: 'When a check went up and down, newest first, at most 100.',
  scope: 'monitoring:read',
  annotations: READ_ONLY,
  input: CheckInput.extend({ days: z.number().min(0).max(365).optional().describe('how far back; 30 when absent') }),
  output: z.object({ flips: z.array(z.object({ timestamp: z.string(), up: z.int() })), more: z.boolean() }),
  async run({ checkId, days = 30 }, call) {
    const { id } = await checkOf(checkId, call)
    await call.deps.barrier.pass([id])
    const from = Math.round(call.deps.now() - microsOfSeconds(days * DAY_SECONDS))
    const flips = await listFlips(call.deps.db, id, { from, before: null })
    return { flips: flips.slice(0, MAX_FLIPS).map(toFlipView), more: flips.length > MAX_FLIPS }
  },
})

export const checkCreate = defineTool({
  name: 'check_create',
  title: 'Create a check',
  description:
    'Creates a check in a project. Either timeout or schedule sets when pings are expected; grace is how late one may ' +
    'be. The same idempotencyKey again gives the same check.',
  scope: 'monitoring:write',
  annotations: IDEMPOTENT,
  input: z.strictObject({
    project: ProjectInput,
    idempotencyKey: z.string(),
    name: z.string().optional(),
    tags: z.string().optional().describe('separated by spaces'),
    timeout: z.number().optional().describe('seconds between pings'),
    schedule: z.string().optional().describe('cron or OnCalendar expression, in place of timeout'),
    tz: z.string().optional(),
    grace: z.number().optional().describe('seconds'),
    channels: z.string().optional().describe('integrations by name or id, separated by commas, or *'),
  }),
  output: CheckSchema,
  async run({ project: requested, idempotencyKey, ...settings }, call) {
    const parsed = parseJsonBody(Buffer.from(JSON.stringify(settings)))
    if (!parsed.ok) throw new ValidationError(parsed.error)
    const { body } = parsed
    const project = await projectOf(requested, call)
    const { caller, deps } = call
    const announced: Parameters<typeof deps.announce>[0][] = []
    const created = await once(
      call,
      'check_create',
      idempotencyKey,
      { project: project.uuid, ...settings },
      async (tx) => {
        const input = { project, body, slugFromName: false }
        const { check } = await createCheck(tx, caller.actor, input, { ...deps, announce: (it) => announced.push(it) })
        return checkForAgents(check, call)
      },
    ).catch((error: unknown) => {
      throw withoutTheirName(error)
    })
    for (const change of announced) deps.announce(change)
    return created
  },
})

/** Replaces the identifier in the API's text, which comes from the request, by the name of the invalid member. */
function withoutTheirName(error: unknown): unknown {
  const fault = error instanceof ValidationError ? /^.+ channel identifier(?=: )/.exec(error.message)?.[0] : undefined
  if (fault === undefined) return error
  const message = `channels: ${fault}`
  return new ValidationError(message, [{ path: 'channels', code: 'NOT_FOUND', message }])
}

export const checkPause = defineTool({
  name: 'check_pause',
  title: 'Pause a check',
  description: 'A paused check expects no pings and sends no notifications. Pausing a paused check changes nothing.',
  scope: 'monitoring:write',
  annotations: IDEMPOTENT,
  input: CheckInput,
  output: CheckSchema,
  async run({ checkId }, call) {
    const own = await checkOf(checkId, call)
    const { check } = await pauseCheck(call.deps.db, call.caller.actor, own, call.deps)
    return checkForAgents(check, call)
  },
})

export const checkResume = defineTool({
  name: 'check_resume',
  title: 'Resume a check',
  description: 'A resumed check waits for its next ping. Resuming a check that is not paused changes nothing.',
  scope: 'monitoring:write',
  annotations: IDEMPOTENT,
  input: CheckInput,
  output: CheckSchema,
  async run({ checkId }, call) {
    const own = await checkOf(checkId, call)
    try {
      const { check } = await resumeCheck(call.deps.db, call.caller.actor, own, call.deps)
      return checkForAgents(check, call)
    } catch (error) {
      const check = error instanceof ConflictError ? await findCheck(call.deps.db, checkId) : null
      if (!check) throw error
      return checkForAgents(check, call)
    }
  },
})
