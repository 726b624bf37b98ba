import { ConflictError } from '#shared/errors.ts'
import { ANY_INCIDENT } from '#shared/monitoring/alerting/incident-list.ts'
import { listIncidents } from '#shared/monitoring/alerting/incident-list-store.ts'
import { findIncident } from '#shared/monitoring/alerting/incident-read-store.ts'
import { timelineText } from '#shared/monitoring/alerting/incident-text.ts'
import { incidentView } from '#shared/monitoring/alerting/incident-view.ts'
import { planText } from '#shared/monitoring/alerting/plan.ts'
import { findPolicy, policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import { timelineView } from '#shared/monitoring/alerting/timeline.ts'
import { readTimeline } from '#shared/monitoring/alerting/timeline-store.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { windowView } from '#shared/monitoring/maintenance/window.ts'
import { findWindow, windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { acknowledgeIncident } from '#shared/monitoring/operations/incidents.ts'
import { loadPolicyViews } from '#shared/monitoring/operations/reachable.ts'
import { endWindow } from '#shared/monitoring/operations/windows.ts'
import { nowMicros, toIsoSeconds } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type AdminContext, type Command, type Options, operatorOf, textOf, UsageError } from './command.ts'
import { requireProject } from './project.ts'

const projectOption = { description: 'id of the project', value: 'ID', required: true } as const
const LISTED = 50

const listPolicies: Command = {
  noun: 'policy',
  verb: 'list',
  summary: 'List the alert policies of a project with their escalation steps',
  options: { project: projectOption },
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const nameOf = await integrationNames(context, project.id)
    const policies = await policiesOf(context.db, [project.id])
    const text = policies.map(
      ({ uuid, name, match, plan }) => `${uuid}  ${name}  ${match || '-'}  ${planText(plan, nameOf)}`,
    )
    const view = await loadPolicyViews(context.db, policies, project.organisationId, context)
    return { json: { policies: policies.map(view) }, text: text.join('\n') || 'none' }
  },
}

const showPolicy: Command = {
  noun: 'policy',
  verb: 'show',
  summary: 'Show an alert policy as the API does',
  options: { project: projectOption, policy: { description: 'id of the policy', value: 'ID', required: true } },
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const uuid = uuidOf(options, 'policy')
    const policy = uuid === null ? null : await findPolicy(context.db, project.id, uuid)
    if (!policy) throw new UsageError(`the project has no policy ${textOf(options, 'policy')}`)
    const view = await loadPolicyViews(context.db, [policy], project.organisationId, context)
    const shown = view(policy)
    return { json: shown, text: JSON.stringify(shown, null, 2) }
  },
}

const listWindows: Command = {
  noun: 'window',
  verb: 'list',
  summary: 'List the maintenance windows of a project, the newest first',
  options: { project: projectOption },
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const windows = (await windowsOf(context.db, [project.id])).map(windowView)
    const text = windows.map((window) => {
      const time =
        'starts' in window ? `${window.starts} to ${window.ends}` : `${window.every} (${window.tz}) for ${window.for} s`
      const about = [window.match, window.checks.length > 0 && `${window.checks.length} checks`].filter(Boolean)
      return `${window.id}  ${window.name || '-'}  ${time}  ${about.join(' and ')}`
    })
    return { json: { windows }, text: text.join('\n') || 'none' }
  },
}

const endOneWindow: Command = {
  noun: 'window',
  verb: 'end',
  summary: 'End the current maintenance; of a recurring window only this occurrence',
  options: { project: projectOption, window: { description: 'id of the window', value: 'ID', required: true } },
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const uuid = uuidOf(options, 'window')
    const before = uuid === null ? null : await findWindow(context.db, project.id, uuid)
    if (!before) throw new UsageError(`the project has no window ${textOf(options, 'window')}`)
    const input = { project, uuid: before.uuid, now: nowMicros() }
    const ended = await endWindow(context.db, operatorOf(context), input)
    const isEnded = JSON.stringify(ended.time) !== JSON.stringify(before.time)
    const text = isEnded
      ? 'ended; checks that are still down send notifications now'
      : 'the window is not open: nothing was changed'
    return { json: { ended: isEnded, window: windowView(ended) }, text }
  },
}

const listOpen: Command = {
  noun: 'incident',
  verb: 'list',
  summary: `List the open incidents of a project, the newest ${LISTED}`,
  options: { project: projectOption, all: { description: 'resolved incidents too' } },
  async run(options, context) {
    const project = await requireProject(textOf(options, 'project'), context)
    const state = options.all ? null : 'open'
    const incidents = await listIncidents(context.db, project.id, { ...ANY_INCIDENT, state }, LISTED)
    const text = incidents.map(({ id, name, checkUuid, state, severity, downAt, ackBy }) =>
      [id, state.padEnd(12), severity.padEnd(8), toIsoSeconds(downAt), name || checkUuid, ackBy ?? '']
        .join('  ')
        .trimEnd(),
    )
    return {
      json: { incidents: incidents.map((incident) => incidentView(incident, nowMicros())) },
      text: text.join('\n') || 'none',
    }
  },
}

const incidentOption = { description: 'id of the incident, from the list', value: 'ID', required: true } as const

const showIncident: Command = {
  noun: 'incident',
  verb: 'show',
  summary: 'Show what happened in an incident: changes, decisions, messages and what became of them, acts, gaps',
  options: { project: projectOption, incident: incidentOption },
  async run(options, context) {
    const { incident } = await requireIncident(options, context)
    const { entries } = await readTimeline(context.db, incident)
    return {
      json: { ...incidentView(incident, nowMicros()), timeline: entries.map(timelineView) },
      text: timelineText(entries),
    }
  },
}

const acknowledge: Command = {
  noun: 'incident',
  verb: 'acknowledge',
  summary: 'Acknowledge an incident: no further notifications are sent until it is resolved',
  options: {
    project: projectOption,
    incident: incidentOption,
    note: { description: 'what is done about it', value: 'TEXT' },
  },
  async run(options, context) {
    const { project, incident } = await requireIncident(options, context)
    const note = options.note === undefined ? '' : textOf(options, 'note')
    if (note.length > 2000) throw new UsageError('--note is longer than 2000 characters')
    const input = { project, id: incident.id, by: '', note, via: 'command' } as const
    try {
      const done = await acknowledgeIncident(context.db, operatorOf(context), input, { now: nowMicros })
      const shown = incidentView(done, nowMicros())
      return { json: shown, text: `${shown.id} is acknowledged by ${shown.ack?.by ?? 'an unknown user'}` }
    } catch (error) {
      if (error instanceof ConflictError) throw new UsageError(error.message)
      throw error
    }
  },
}

export const alertingCommands: readonly Command[] = [
  listPolicies,
  showPolicy,
  listWindows,
  endOneWindow,
  listOpen,
  showIncident,
  acknowledge,
]

async function integrationNames({ db }: AdminContext, projectId: number): Promise<(uuid: string) => string> {
  const names = new Map((await listIntegrations(db, projectId)).map(({ uuid, name, kind }) => [uuid, name || kind]))
  return (uuid) => names.get(uuid) ?? 'a deleted integration'
}

/** @throws UsageError when the project has no such incident */
async function requireIncident(options: Options, context: AdminContext) {
  const project = await requireProject(textOf(options, 'project'), context)
  const uuid = uuidOf(options, 'incident')
  const incident = uuid === null ? null : await findIncident(context.db, project.id, uuid)
  if (!incident) throw new UsageError(`the project has no incident ${textOf(options, 'incident')}`)
  return { project, incident }
}

/** @returns null for an invalid uuid */
function uuidOf(options: Options, name: string): string | null {
  const uuid = textOf(options, name).toLowerCase()
  return isUuid(uuid) ? uuid : null
}
