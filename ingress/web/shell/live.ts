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
      async read() {
        const { fingerprint, down } = await listFingerprint(db, project.id)
        return { fingerprint: shortened(fingerprint), isDown: down > 0 }
      },
    })
  })
  pages.get('/checks/:check/events', async (context) => {
    const { check, project, session } = await requireCheckPage(context, 'view')
    await watch(context, session.id, {
      organisationId: project.organisationId,
      name: `check ${check.id}`,
      isConcerned: ({ checks, uuids }) => checks.has(check.id) || uuids.has(check.uuid),
      async read() {
        const { fingerprint, isDown } = await checkFingerprint(context.deps.db, check.id)
        return { fingerprint: shortened(fingerprint), isDown }
      },
    })
  })
  pages.get('/integrations/:integration/events', async (context) => {
    const { integration, project, session } = await requireIntegrationOf(context, 'view')
    await watch(context, session.id, {
      organisationId: project.organisationId,
      name: `integration ${integration.id}`,
      isConcerned: ({ integrations }) => integrations.has(integration.id),
      async read() {
        const { fingerprint, isDown } = await integrationFingerprint(context.deps.db, integration.id)
        return { fingerprint: shortened(fingerprint), isDown }
      },
    })
  })
}

/**
 * Returns the address of a page's events. The fingerprint in it was read before the data of the page, so that no change
 * before the connection is missed.
 */
export function liveAddress(path: string, fingerprint: string): string {
  return `${path}?seen=${shortened(fingerprint)}`
}

function shortened(fingerprint: string): string {
  return createHash('sha256').update(fingerprint).digest('base64url').slice(0, 12)
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
