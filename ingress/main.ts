import { loadConfig } from '#shared/platform/process/config.ts'
import { withLocalEnv } from '#shared/platform/process/local-env.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { explainConfigError, runProcess } from '#shared/platform/process/run-process.ts'
import { startIngress } from './start-ingress.ts'

const config = readConfig()
const log = createLog(config.logLevel, 'ingress')

await runProcess(log, async (resources) => {
  const { server, drain } = await startIngress(resources, config, log)
  log.info({ port: server.port }, 'http.listening')
  return drain
})

function readConfig() {
  try {
    return loadConfig(withLocalEnv(process.env))
  } catch (error) {
    return explainConfigError(error)
  }
}
