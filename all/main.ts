import { loadConfig } from '#shared/platform/process/config.ts'
import { withLocalEnv } from '#shared/platform/process/local-env.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { explainConfigError, runProcess } from '#shared/platform/process/run-process.ts'
import { startAll } from './start-all.ts'

const config = readConfig()
const log = createLog(config.logLevel, 'all')

await runProcess(log, async (resources) => {
  const { http, smtp, drain } = await startAll(resources, config, log)
  log.info({ port: http }, 'http.listening')
  log.info({ port: smtp }, 'smtp.listening')
  return drain
})

function readConfig() {
  try {
    return loadConfig(withLocalEnv(process.env))
  } catch (error) {
    return explainConfigError(error)
  }
}
