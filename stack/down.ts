import { composeDown } from './compose-services.ts'
import { stopProcess } from './process-identity.ts'
import { forgetProcess } from './processes.ts'
import { readState, writeState } from './service-state.ts'
import { stopTimeoutMs } from './start-processes.ts'

/** `make down`: stops only what `make up` started, in reverse order. Data remains. */
export async function down(folder: string, say: (line: string) => void): Promise<void> {
  const state = readState(folder)
  const processes = Object.entries(state.processes)
  const stopped = await Promise.all(
    processes.map(async ([name, process]) => {
      const ran = await stopProcess(process, 'SIGINT', stopTimeoutMs)
      forgetProcess(folder, name)
      return ran ? name : undefined
    }),
  )
  state.processes = {}
  const names = stopped.filter((name) => name !== undefined)
  if (names.length > 0) say(`stopped ${names.join(', ')}`)
  // Stops the broker first, because it takes longer and does not need the database. SIGINT is PostgreSQL's fast
  // shutdown.
  if (state.broker?.process && (await stopProcess(state.broker.process, 'SIGTERM', 30_000))) say('stopped RabbitMQ')
  if (state.postgres?.process && (await stopProcess(state.postgres.process, 'SIGINT', 30_000)))
    say('stopped PostgreSQL')
  if (state.postgres?.origin === 'docker' || state.broker?.origin === 'docker') {
    await composeDown()
    say('stopped the containers')
  }
  delete state.postgres?.process
  delete state.broker?.process
  writeState(folder, state)
  if (names.length === 0) say('no process of this checkout was running')
}
