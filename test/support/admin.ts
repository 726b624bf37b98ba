import type { Knex } from 'knex'
import type { Config } from '#shared/platform/process/config.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { commands } from '../../ingress/admin/registry.ts'
import { runAdmin } from '../../ingress/admin/run.ts'

/** All commands of the operator on a product, with the output and exit code of each. */
export const adminOf =
  ({ config, db }: { config: Config; db: Knex }) =>
  (...args: string[]) =>
    runAdmin(args, commands, async () => ({
      config,
      db,
      secrets: createSecrets(config.secretKey),
      log: createLog('silent', 'test'),
      actor: 'tester',
      async [Symbol.asyncDispose]() {},
    }))

/** Returns a function that runs a command that must succeed, for its JSON. */
export function adminJsonOf(deps: Parameters<typeof adminOf>[0]): <T>(...args: string[]) => Promise<T> {
  return async (...args) => {
    const { status, stdout, stderr } = await adminOf(deps)(...args, '--json')
    if (status !== 0) throw new Error(`${status}: ${stderr}${stdout}`)
    return JSON.parse(stdout)
  }
}
