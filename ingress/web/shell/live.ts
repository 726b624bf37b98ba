import { createHash } from 'node:crypto'
import { listFingerprint } from '#shared/monitoring/pages/check-list-store.ts'
import { checkFingerprint } from '#shared/monitoring/pages/check-log-store.ts'
import { integrationFingerprint } from '#shared/monitoring/pages/integration-store.ts'
import { requireIntegrationOf } from '../monitoring/integrations/load-integration.ts'
import type { Context, Pages } from './context.ts'
import type { Topic } from './live-watchers.ts'
import { requireCheckPage, requireProject } from './workspace.ts'

/** Notifies open pages by server-sent events. Events contain no check data: the page reloads with the user's rights. */
export function livePages(pages: Pages): void {
  pages.get('/projects/:project/events', async (context) => {
    const { project, session } = await requireProject(context, 'view')
    const { db } = context.deps
    await watch(context, session.id, {
      organisationId: project.organisationId,
      name: `project ${project.id}`,
      projectId: project.id,
      isConcerned: ({ projects }) => projects.has(project.id),
      async look() {
        const { mark, down } = await listFingerprint(db, project.id)
        return { mark: shortened(mark), isDown: down > 0 }
      },
    })
  })
  pages.get('/checks/:check/events', async (context) => {
    const { check, project, session } = await requireCheckPage(context, 'view')
    await watch(context, session.id, {
      organisationId: project.organisationId,
      name: `check ${check.id}`,
      isConcerned: ({ checks, uuids }) => checks.has(check.id) || uuids.has(check.uuid),
      async look() {
        const { mark, isDown } = await checkFingerprint(context.deps.db, check.id)
        return { mark: shortened(mark), isDown }
      },
    })
  })
  pages.get('/integrations/:integration/events', async (context) => {
    const { integration, project, session } = await requireIntegrationOf(context, 'view')
    await watch(context, session.id, {
      organisationId: project.organisationId,
      name: `integration ${integration.id}`,
      isConcerned: ({ integrations }) => integrations.has(integration.id),
      async look() {
        const { mark, isDown } = await integrationFingerprint(context.deps.db, integration.id)
        return { mark: shortened(mark), isDown }
      },
    })
  })
}

/**
 * Returns the address of a page's events. Its mark was read before all other data, so no change is missed before the
 * connection.
 */
export function liveAddress(path: string, mark: string): string {
  return `${path}?seen=${shortened(mark)}`
}

function shortened(mark: string): string {
  return createHash('sha256').update(mark).digest('base64url').slice(0, 12)
}

async function watch({ response, deps, query }: Context, sessionId: number, topic: Topic): Promise<void> {
  const { watchers } = deps
  if (watchers.isFull()) {
    response.status(503).set('Retry-After', '60').end()
    return
  }
  response.status(200).set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
  response.write(`retry: 5000\n: watching\n\n`)
  await watchers.add(response, topic, sessionId, query.get('seen') ?? '')
}
