import { resolve } from 'node:path'
import { down, status } from './down.ts'
import { readEnvFile, stateDirectory } from './local-env.ts'
import { up } from './up.ts'

const say = (line: string) => console.log(line)
const root = resolve(import.meta.dirname, '../..')
const commands: Record<string, () => Promise<void>> = {
  // A .env file is for settings one wants every time; the environment of this very command beats it.
  up: () => up({ ...readEnvFile(resolve(root, '.env')), ...process.env }, stateDirectory, say),
  down: () => down(stateDirectory, say),
  status: () => status(stateDirectory, say),
}

const command = commands[process.argv[2] ?? '']
if (!command) {
  console.error(`usage: npm run -s stack -- ${Object.keys(commands).join('|')}`)
  process.exitCode = 2
} else {
  try {
    await command()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
