import { loadConfig } from '#shared/platform/process/config.ts'
import { withLocalEnv } from '#shared/platform/process/local-env.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { explainConfigError, runProcess } from '#shared/platform/process/run-process.ts'
import { startMailIngress } from './smtp/start-mail-ingress.ts'

const config = readConfig()
const log = createLog(config.logLevel, 'smtp')

await runProcess(log, async (resources) => {
  const { server } = await startMailIngress(resources, config, log)
  log.info({ port: server.port }, 'smtp.listening')
})

function readConfig() {
  try {
    return loadConfig(withLocalEnv(process.env))
  } catch (error) {
    return explainConfigError(error)
  }
}
