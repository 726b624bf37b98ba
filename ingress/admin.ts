import { userInfo } from 'node:os'
import { openDatabase } from '#shared/platform/database/db.ts'
import { type Config, loadConfig } from '#shared/platform/process/config.ts'
import { withLocalEnv } from '#shared/platform/process/local-env.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { explainConfigError } from '#shared/platform/process/run-process.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import type { AdminContext } from './admin/command.ts'
import { commands } from './admin/registry.ts'
import { runAdmin } from './admin/run.ts'

const { status, stdout, stderr } = await runAdmin(process.argv.slice(2), commands, openContext)
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = status

async function openContext(): Promise<AdminContext & AsyncDisposable> {
  const config = readConfig()
  const db = openDatabase({
    url: config.databaseUrl,
    name: 'signalbox-admin',
    poolSize: 2,
    timeoutMs: config.databaseTimeoutMs,
    pooler: config.databasePooler,
  })
  return {
    config,
    db,
    secrets: createSecrets(config.secretKey, config.secretKeyPrevious),
    log: createLog('warn', 'admin'),
    actor: userInfo().username,
    [Symbol.asyncDispose]: () => db.destroy(),
  }
}

function readConfig(): Config {
  try {
    return loadConfig(withLocalEnv(process.env))
  } catch (error) {
    return explainConfigError(error)
  }
}
