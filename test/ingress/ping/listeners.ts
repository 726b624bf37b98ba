import { query } from '#shared/platform/database/sql.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { startIngress } from '../../../ingress/start-ingress.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'

/** A stored ping, including members that the API omits. */
export interface StoredPing {
  n: number
  type: string
  scheme: string
  remoteAddr: string | null
  method: string
  ua: string
  rid: string | null
  exitStatus: number | null
  body: Buffer | null
}

/** Another ingress process's listener to the same installation, under other settings. @returns its address */
export async function openAnotherListener(
  resources: AsyncDisposableStack,
  { deps }: HttpProduct,
  changed: Partial<Config> = {},
): Promise<string> {
  const { server, deps: own } = await startIngress(resources, { ...deps.config, port: 0, ...changed }, deps.log)
  await own.broker.connected()
  return `http://127.0.0.1:${server.port}`
}

/** A project with one check, and functions that return recorded pings after all answered ones are applied. */
export async function aPingedProject(app: HttpProduct, options: { checkLimit?: number } = {}) {
  const owner = await addProject(app.deps, options)
  const check = await addCheck(app.deps, owner.project.id, { name: 'Job', slug: 'job' })
  return {
    ...owner,
    check,
    uuid: check.uuid,
    /** Returns a check as the API shows it. */
    async shown(uuid = check.uuid) {
      const answer = await send(app.url, `/api/v3/checks/${uuid}`, { headers: { 'X-Api-Key': owner.rwKey } })
      return jsonOf(answer) as { status: string; started: boolean; n_pings: number; [name: string]: unknown }
    },
    async checks() {
      const answer = await send(app.url, '/api/v3/checks/', { headers: { 'X-Api-Key': owner.rwKey } })
      return (jsonOf(answer) as { checks: { slug: string; uuid: string; [name: string]: unknown }[] }).checks
    },
    /** the stored pings, oldest first */
    async recorded(checkId = check.id): Promise<StoredPing[]> {
      await app.deps.barrier.pass([checkId])
      return await query<StoredPing>(
        app.deps.db,
        `SELECT n, type, scheme, remote_addr AS "remoteAddr", method, ua, rid, exit_status AS "exitStatus", body
         FROM pings WHERE check_id = ? ORDER BY n`,
        [checkId],
      )
    },
  }
}
