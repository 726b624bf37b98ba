import { loadConfig } from '#shared/platform/config.ts'
import { createLog } from '#shared/platform/log.ts'
import { explainConfigError, runProcess } from '#shared/platform/run-process.ts'
import { withLocalEnv } from '#shared/stack/local-env.ts'
import { openMailIngress } from './mail/open-mail-ingress.ts'

const config = readConfig()
const log = createLog(config.logLevel, 'smtp')

await runProcess(log, async (resources) => {
  const { server } = await openMailIngress(resources, config, log)
  log.info({ port: server.port }, 'smtp.listening')
})

function readConfig() {
  try {
    return loadConfig(withLocalEnv(process.env))
  } catch (error) {
    return explainConfigError(error)
  }
}
