import { loadConfig } from '#shared/platform/config.ts'
import { createLog } from '#shared/platform/log.ts'
import { explainConfigError, runProcess } from '#shared/platform/run-process.ts'
import { withLocalEnv } from '#shared/stack/local-env.ts'
import { openWorkers } from './open-workers.ts'
import { workers } from './registry.ts'

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !workers.some((worker) => worker.name === name))
if (unknown.length > 0 || wanted.includes('--help')) {
  process.stderr.write(
    `usage: workers [NAME...]\nnames: ${workers.map(({ name }) => name).join(', ')} (default: all)\n`,
  )
  process.exit(wanted.includes('--help') ? 0 : 2)
}

const config = readConfig()
const chosen = wanted.length === 0 ? workers : workers.filter(({ name }) => wanted.includes(name))
const log = createLog(config.logLevel, chosen.length === workers.length ? 'workers' : wanted.join('+'))

await runProcess(log, async (resources) => {
  await openWorkers(resources, chosen, config, log)
})

function readConfig() {
  try {
    return loadConfig(withLocalEnv(process.env))
  } catch (error) {
    return explainConfigError(error)
  }
}
