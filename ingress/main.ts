import { loadConfig } from '#shared/platform/config.ts'
import { createLog } from '#shared/platform/log.ts'
import { explainConfigError, runProcess } from '#shared/platform/run-process.ts'
import { withLocalEnv } from '#shared/stack/local-env.ts'
import { openIngress } from './open-ingress.ts'

const config = readConfig()
const log = createLog(config.logLevel, 'ingress')

await runProcess(log, async (resources) => {
  const { server, drain } = await openIngress(resources, config, log)
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
