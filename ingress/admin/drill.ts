import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { CacheChange } from '#shared/contracts/ingress-messages.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { insertCheck } from '#shared/monitoring/checks/store.ts'
import { listIntegrations, listNotifications } from '#shared/monitoring/integrations/store.ts'
import { createProjectWithKeys, deleteProject } from '#shared/monitoring/operations/projects.ts'
import { announceOnce } from '#shared/platform/broker/announce-once.ts'
import { type AdminContext, type Finding, operatorOf } from './command.ts'
import { logFindings } from './database-findings.ts'

/** Milliseconds; a sweep and a barrier take seconds. */
const STEP_MS = 30_000
/** Faster polling could exceed the limit of requests per minute of an API key. */
const POLL_EVERY_MS = 500

const integrationShape = z.object({ id: z.string() })
const flipsShape = z.array(z.object({ up: z.number() }))
const pingsShape = z.object({ pings: z.array(z.object({ type: z.string() })) })

/** The test check: requests of the drill use its API key, like those of a customer. */
interface TestCheck {
  base: string
  uuid: string
  apiKey: string
  projectId: number
  context: AdminContext
}

/**
 * Sends a test check through the whole product: ping, read, overdue, notification. Its integration sends to the check's
 * own log address, so no receiver is needed. Only an empty organisation and
 * the audit entries remain.
 * @param base address of a listener, without a final slash
 * @returns a finding with its duration for each step, up to the first failure
 */
export async function drill(base: string, context: AdminContext): Promise<Finding[]> {
  const actor = operatorOf(context)
  const owner = { organisationName: 'Drill' }
  const { project, keys } = await createProjectWithKeys(context.db, actor, { name: 'Drill', owner }, context)
  try {
    // Shorter than customers may choose, so that the check goes down within seconds.
    const settings = { ...DEFAULT_SETTINGS, name: 'Drill', timeoutSeconds: 1, graceSeconds: 1 }
    const { uuid } = await insertCheck(context.db, project.id, settings)
    const findings = await runSteps({ base, uuid, apiKey: keys.rw, projectId: project.id, context })
    return [...findings, ...(await logFindings(context.db))]
  } finally {
    const changes: CacheChange[] = []
    await deleteProject(context.db, actor, project, { ...context, announce: (change) => void changes.push(change) })
    await announceOnce(context.config.amqpUrl, changes)
  }
}

/** On a slow machine the deadline may pass before the read. */
const PINGED = z.object({ n_pings: z.literal(1), status: z.enum(['up', 'grace', 'down']) })

async function runSteps(check: TestCheck): Promise<Finding[]> {
  const { base, uuid } = check
  const all: [what: string, run: () => Promise<string | null>][] = [
    ['integration', async () => await addIntegration(check)],
    ['ping', async () => refusal(await fetch(`${base}/ping/${uuid}`, deadline()))],
    ['read', async () => await until(check, '', PINGED)],
    [
      'overdue',
      async () =>
        await until(
          check,
          'flips/',
          flipsShape.min(1).refine(([newest]) => newest?.up === 0),
        ),
    ],
    ['notification', async () => await notificationArrived(check)],
  ]
  const findings: Finding[] = []
  for (const [what, run] of all) {
    const began = performance.now()
    const problem = await run().catch((error: unknown) => (error instanceof Error ? error.message : 'failed'))
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    findings.push({ what: `drill: ${what}`, ok: problem === null, text: problem ?? `${seconds} s` })
    if (problem !== null) break
  }
  return findings
}

/** @throws Error with the response of the listener */
async function addIntegration(check: TestCheck): Promise<null> {
  const url = `${check.base}/ping/${check.uuid}/log`
  const config = { url_down: url, method_down: 'POST', body_down: '', headers_down: {} }
  const made = await call(check, 'channels/', { kind: 'webhook', name: 'Drill', config })
  const { id } = integrationShape.parse(made)
  await call(check, `checks/${check.uuid}`, { channels: id })
  return null
}

async function notificationArrived(check: TestCheck): Promise<string | null> {
  const problem = await until(
    check,
    'pings/',
    pingsShape.refine(({ pings }) => pings.some(({ type }) => type === 'log')),
  )
  if (problem === null) return null
  const { db } = check.context
  const [stored] = await listIntegrations(db, check.projectId)
  const [newest] = stored ? await listNotifications(db, stored.id, 1) : []
  return newest
    ? `${problem}: ${newest.state}${newest.error ? `, ${newest.error}` : ''}`
    : `${problem}: no notification was due`
}

/** @returns null once the API's response matches `shape`; an error text after the timeout */
async function until(check: TestCheck, path: string, shape: z.ZodType<unknown>): Promise<string | null> {
  const end = performance.now() + STEP_MS
  for (;;) {
    const output = await call(check, `checks/${check.uuid}${path === '' ? '' : `/${path}`}`)
    if (shape.safeParse(output).success) return null
    if (performance.now() > end) return `not within ${STEP_MS / 1000} s`
    await sleep(POLL_EVERY_MS)
  }
}

async function call({ base, apiKey }: TestCheck, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${base}/api/v3/${path}`, {
    ...deadline(),
    headers: { 'X-Api-Key': apiKey },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} got status ${response.status}: ${text.slice(0, 200)}`)
  return JSON.parse(text)
}

function refusal(response: Response): string | null {
  return response.ok ? null : `got status ${response.status}`
}

const deadline = () => ({ signal: AbortSignal.timeout(STEP_MS) })
