import { query } from '#shared/platform/database/sql.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'

/** The final state of a notification. */
export interface Ended {
  state: string
  error: string
  attempts: number
}

/** Creates a project that is used through the API and by pings. */
export async function aProject(app: HttpProduct) {
  const owner = await addProject(app.deps)
  const headers = { 'X-Api-Key': owner.rwKey }
  async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await send(app.url, `/api/v3${path}`, { method, headers, ...text })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    // Every response of these tests is an object.
    return jsonOf(answer) as Record<string, unknown>
  }
  return {
    ...owner,
    call,
    /** Creates an integration and returns its uuid. */
    async integration(kind: string, config: unknown, name = kind): Promise<string> {
      const uuid = String((await call('POST', '/channels/', { kind, name, config })).id)
      // The recipient of its mails has consented.
      await app.deps.db('integrations').where({ uuid }).update({ email_verified: true })
      return uuid
    },
    /** Creates a check with these integrations and returns its uuid. */
    async check(integrations: readonly string[], name = 'Job'): Promise<string> {
      const check = await call('POST', '/checks/', { name, channels: integrations.join(',') })
      return String(check.ping_url).split('/').at(-1) ?? ''
    },
    ping: (uuid: string, suffix = '') => send(app.url, `/ping/${uuid}${suffix}`),
    /** Waits for a number of finished notifications of an integration and returns them, oldest first. */
    async ended(integration: string, count: number): Promise<Ended[]> {
      return await eventually(`${count} notifications to end`, async () => {
        const rows = await query<Ended>(
          app.deps.db,
          `SELECT n.state, n.error, n.attempts FROM notifications n JOIN integrations c ON c.id = n.integration_id
           WHERE c.uuid = ? AND n.state <> 'pending' ORDER BY n.finished_at`,
          [integration],
        )
        return rows.length >= count ? rows : null
      })
    },
    /** Counts pending and all notifications of the project. */
    async counted(): Promise<{ pending: number; total: number }> {
      const [row] = await query<{ pending: number; total: number }>(
        app.deps.db,
        `SELECT count(*) FILTER (WHERE n.state = 'pending')::int AS pending, count(*)::int AS total
         FROM notifications n JOIN integrations c ON c.id = n.integration_id WHERE c.project_id = ?`,
        [owner.project.id],
      )
      return row ?? { pending: 0, total: 0 }
    },
  }
}
