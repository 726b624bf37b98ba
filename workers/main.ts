import { chosen, explainCommandLine, parseOptions } from '#shared/platform/process/command-line.ts'
import { loadConfig } from '#shared/platform/process/config.ts'
import { withLocalEnv } from '#shared/platform/process/local-env.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { explainConfigError, runProcess } from '#shared/platform/process/run-process.ts'
import { workers } from './registry.ts'
import { startWorkers } from './start-workers.ts'

const names = workers.map(({ name }) => name)
const wanted = readNames(process.argv.slice(2))
const config = readConfig()
const started = workers.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
const log = createLog(config.logLevel, started.length === workers.length ? 'workers' : wanted.join('+'))

await runProcess(log, async (resources) => {
  await startWorkers(resources, started, config, log)
})

function readNames(args: string[]): string[] {
  try {
    const { positionals, values } = parseOptions({
      args,
      allowPositionals: true,
      options: { help: { type: 'boolean' } },
    })
    if (values.help) {
      process.stdout.write(`workers [NAME...]: ${names.join(', ')} (default: all)\n`)
      process.exit(0)
    }
    const known = Object.fromEntries(names.map((name) => [name, name]))
    return positionals.map((name) => chosen('worker', name, known))
  } catch (error) {
    return explainCommandLine(error)
  }
}

function readConfig() {
  try {
    return loadConfig(withLocalEnv(process.env))
  } catch (error) {
    return explainConfigError(error)
  }
}
