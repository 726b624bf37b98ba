import { resolve } from 'node:path'
import { chosen, explainCommandLine, parseOptions } from '#shared/platform/process/command-line.ts'
import { ConfigError } from '#shared/platform/process/config.ts'
import { readEnvFile, stateDirectory } from '#shared/platform/process/local-env.ts'
import { demo } from './demo.ts'
import { down } from './down.ts'
import { status } from './status.ts'
import { tryPacks } from './try.ts'
import { up } from './up.ts'

const say = (line: string) => console.log(line)
const root = resolve(import.meta.dirname, '..')
// The environment of the command overrides the .env file.
const env = () => ({ ...readEnvFile(resolve(root, '.env')), ...process.env })
const commands: Record<string, () => Promise<void>> = {
  up: () => up(env(), stateDirectory, say),
  demo: () => demo(env(), stateDirectory, say),
  try: () => tryPacks(env(), stateDirectory, say),
  down: () => down(stateDirectory, say),
  status: async () => {
    if (!(await status(stateDirectory, say))) process.exitCode = 1
  },
}

const command = commandOf(process.argv.slice(2))
try {
  await command()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}

function commandOf(args: string[]): () => Promise<void> {
  try {
    const { positionals } = parseOptions({ args, allowPositionals: true, options: {} })
    return chosen('command', positionals.join(' '), commands)
  } catch (error) {
    return explainCommandLine(error)
  }
}
