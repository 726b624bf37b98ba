import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { DEMO_CHECKS } from '#shared/monitoring/pages/demo-checks.ts'
import { duePing } from './demo-pings.ts'

const ROUND_MS = 5_000

const settings = z
  .object({ DEMO_ADDRESS: z.string(), DEMO_API_KEY: z.string(), DEMO_PING_KEY: z.string() })
  .parse(process.env)

const listing = z.object({
  checks: z.array(
    z.object({ slug: z.string(), status: z.string(), started: z.boolean(), last_ping: z.string().nullable() }),
  ),
})

const demoChecks = new Map(DEMO_CHECKS.map((check) => [check.slug, check]))
const startedAt = new Map<string, number>()
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())

// Pings the checks of the demo project as their jobs would, until it is stopped or the project is deleted.
while (!ended.signal.aborted) {
  try {
    if (!(await pingRound())) break
  } catch (error) {
    console.error(new Date().toISOString(), error instanceof Error ? error.message : error)
  }
  await sleep(ROUND_MS, undefined, { signal: ended.signal }).catch(() => {})
}

/** Returns false if the project does not exist any more. */
async function pingRound(): Promise<boolean> {
  const { DEMO_ADDRESS, DEMO_API_KEY, DEMO_PING_KEY } = settings
  const response = await fetch(`${DEMO_ADDRESS}/api/v3/checks/`, {
    headers: { 'X-Api-Key': DEMO_API_KEY },
    signal: AbortSignal.timeout(10_000),
  })
  if (response.status === 401) return false
  if (!response.ok) throw new Error(`the list of checks was answered with ${response.status}`)
  for (const listed of listing.parse(await response.json()).checks) {
    const check = demoChecks.get(listed.slug)
    const ping = check && duePing(check, listed, startedAt.get(listed.slug), Date.now())
    if (!ping) continue
    await send(`${DEMO_ADDRESS}/ping/${DEMO_PING_KEY}/${listed.slug}`, ping)
    if (ping === 'start') startedAt.set(listed.slug, Date.now())
    else startedAt.delete(listed.slug)
  }
  return true
}

async function send(url: string, ping: 'start' | 'success' | 'fail'): Promise<void> {
  const response = await fetch(ping === 'success' ? url : `${url}/${ping}`, {
    method: 'POST',
    body: ping === 'fail' ? 'ValueError: row 1042 has 13 columns' : ping === 'success' ? 'done, 1204 rows' : '',
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`a ping was answered with ${response.status}`)
}
