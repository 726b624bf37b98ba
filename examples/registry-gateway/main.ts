import { CommandLineError, chosen, explainCommandLine } from '#shared/platform/process/command-line.ts'
import { keys } from './keys.ts'
import { consent, health } from './remote.ts'
import { serve } from './serve.ts'
import { SettingsError } from './settings.ts'
import { StateError } from './store.ts'
import { tryOne } from './try.ts'

const HELP = `A registry gateway: answers docs/registries/gateway.openapi.json from real providers.

  npm run -s gateway -- serve [--test]     serve the contract; --test allows test environments of providers
  npm run -s gateway -- try WHAT ...       send one request to a provider, and print each member and its source
  npm run -s gateway -- consent new|show|join|revoke|forget|address ...
  npm run -s gateway -- keys read|watch --folder DIR ...
  npm run -s gateway -- health [--keys DIR]

Settings and first steps: examples/registry-gateway/README.md
`

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  serve,
  try: tryOne,
  consent,
  keys,
  health,
}

try {
  const [word = '', ...args] = process.argv.slice(2)
  if (['', 'help', '--help', '-h'].includes(word)) console.log(HELP)
  else process.exit(await chosen('command', word, commands)(args))
} catch (error) {
  if (error instanceof CommandLineError) explainCommandLine(error)
  if (!(error instanceof SettingsError || error instanceof StateError)) throw error
  console.error(error.message)
  process.exitCode = 2
}
