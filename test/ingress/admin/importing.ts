import { randomUUID } from 'node:crypto'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import type { HttpProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'

export interface Made {
  projectId: string
  apiKey: string
  pingKey: string
}

/** Commands and API requests of tests that import. */
export function importing(app: HttpProduct) {
  const admin = async (...args: string[]) => {
    const { config, db, secrets, log } = app.deps
    return await runAdmin(args, commands, async () => ({
      ...{ config, db, secrets, log, actor: 'tester' },
      [Symbol.asyncDispose]: async () => {},
    }))
  }
  return {
    admin,
    async createProject(organisation = randomUUID()): Promise<Made> {
      const { stdout } = await admin('project', 'create', '--name', 'A', '--organisation', organisation, '--json')
      return JSON.parse(stdout)
    },
    api: (key: string, path: string, method = 'GET', body?: object) =>
      send(app.url, `/api/v3${path}`, {
        method,
        headers: { 'X-Api-Key': key },
        ...(body && { body: JSON.stringify(body) }),
      }),
  }
}
