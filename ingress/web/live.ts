import { createHash } from 'node:crypto'
import type { Response } from 'express'
import { listFingerprint } from '#shared/pages/check-list-store.ts'
import { checkFingerprint } from '#shared/pages/check-log-store.ts'
import { integrationFingerprint } from '#shared/pages/integration-store.ts'
import { describeError } from '#shared/platform/log.ts'
import type { IngressDeps } from '../deps.ts'
import { perProcess } from '../middleware/per-process.ts'
import type { Context, Pages } from './context.ts'
import { openIntegration } from './integrations/open-integration.ts'
import { openCheck, openProject } from './workspace.ts'

/** How often what somebody looks at is compared with what they saw. */
const LOOK_EVERY_MS = 2_000
/** Proxies cut connections that say nothing for a minute. */
const COMMENT_EVERY = 10
/** A page that is left open reconnects by itself; so one that its owner may no longer see ends in time. */
const MAX_LOOKS = 450
const MAX_WATCHERS = 5_000

interface Watched {
  look(): Promise<{ mark: string; isDown: boolean }>
  watchers: Set<Response>
  mark: string | null
  looks: number
  timer: NodeJS.Timeout
}

/** One look serves everybody who watches the same thing, so a thousand open pages cost one small query. */
const watchedThings = perProcess(() => new Map<string, Watched>())

/**
 * Tells open pages when to read themselves again, as server-sent events. Events carry no data of checks: what a page
 * shows is always rendered by the page, for this person.
 */
export function livePages(pages: Pages): void {
  pages.get('/projects/:project/events', async (context) => {
    const { project } = await openProject(context, 'view')
    const { db } = context.deps
    await watch(context, `project ${project.id}`, async () => {
      const { mark, down } = await listFingerprint(db, project.id)
      return { mark, isDown: down > 0 }
    })
  })
  pages.get('/checks/:check/events', async (context) => {
    const { check } = await openCheck(context, 'view')
    await watch(context, `check ${check.id}`, () => checkFingerprint(context.deps.db, check.id))
  })
  pages.get('/integrations/:integration/events', async (context) => {
    const { channel } = await openIntegration(context, 'view')
    await watch(context, `integration ${channel.id}`, () => integrationFingerprint(context.deps.db, channel.id))
  })
}

/**
 * The address of a page's events. It says what the page is about to show, asked before anything else is read: so a
 * change between then and the connection is not missed.
 */
export function liveAddress(path: string, mark: string): string {
  return `${path}?seen=${shortened(mark)}`
}

function shortened(mark: string): string {
  return createHash('sha256').update(mark).digest('base64url').slice(0, 12)
}

async function watch(context: Context, name: string, look: Watched['look']): Promise<void> {
  const { response, deps } = context
  const things = watchedThings(deps)
  const open = [...things.values()].reduce((sum, thing) => sum + thing.watchers.size, 0)
  if (open >= MAX_WATCHERS) {
    response.status(503).set('Retry-After', '60').end()
    return
  }
  response.status(200).set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
  response.write(`retry: 5000\n: watching\n\n`)
  const { mark, isDown } = await look()
  if (shortened(mark) !== context.query.get('seen')) response.write(changed(isDown))
  if (response.destroyed) return
  const watched = things.get(name) ?? start(things, name, look, deps)
  watched.watchers.add(response)
  response.once('close', () => {
    watched.watchers.delete(response)
    if (watched.watchers.size > 0) return
    clearInterval(watched.timer)
    things.delete(name)
  })
}

function start(things: Map<string, Watched>, name: string, look: Watched['look'], deps: IngressDeps): Watched {
  const watched: Watched = {
    look,
    watchers: new Set(),
    mark: null,
    looks: 0,
    timer: setInterval(() => {
      compare(watched).catch((error: unknown) => deps.log.warn(describeError(error), 'live.look-failed'))
    }, LOOK_EVERY_MS),
  }
  // Open pages must not keep a process from stopping.
  watched.timer.unref()
  things.set(name, watched)
  compare(watched).catch((error: unknown) => deps.log.warn(describeError(error), 'live.look-failed'))
  return watched
}

async function compare(watched: Watched): Promise<void> {
  watched.looks += 1
  if (watched.looks > MAX_LOOKS) {
    for (const response of watched.watchers) response.end()
    return
  }
  const { mark, isDown } = await watched.look()
  const isFirst = watched.mark === null
  if (!isFirst && mark !== watched.mark) {
    send(watched, changed(isDown))
  } else if (watched.looks % COMMENT_EVERY === 0) send(watched, ': still here\n\n')
  watched.mark = mark
}

function changed(isDown: boolean): string {
  return `event: changed\ndata: ${isDown ? 'down' : 'up'}\n\n`
}

function send(watched: Watched, text: string): void {
  for (const response of watched.watchers) response.write(text)
}
