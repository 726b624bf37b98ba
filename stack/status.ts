import { join } from 'node:path'
import { readEnvFile } from '#shared/platform/process/local-env.ts'
import { isRunning } from './process-identity.ts'
import { readState, type StackState } from './service-state.ts'
import { httpReady, portOpen } from './wait-until-ready.ts'

const ACCEPTED = 'are accepted'

/**
 * `make status`: prints the address and one line per service and process, with the reason if it is not ready.
 * @returns true if all are ready
 */
export async function status(folder: string, say: (line: string) => void): Promise<boolean> {
  const state = readState(folder)
  const settings = readEnvFile(join(folder, 'env'))
  const line = (name: string, text: string) => say(`${name.padEnd(10)} ${text}`)
  if (Object.keys(state.processes).length === 0) {
    say('no process of this checkout is running: start it with make up. Containers are listed by docker compose ps')
    return false
  }
  const address = `http://127.0.0.1:${settings.PORT}`
  line('address', settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`)
  for (const name of ['postgres', 'broker'] as const) {
    const service = state[name]
    if (!service) line(name, 'not started')
    else {
      const problem = await portOpen(service.port)()
      line(name, `${service.origin}, port ${service.port}${problem ? ': does not answer' : ''}`)
    }
  }
  const problems = await Promise.all(
    Object.keys(state.processes).map(async (name) => {
      const problem = await processProblem(name, state)
      return { name, problem }
    }),
  )
  for (const { name, problem } of problems) {
    const runs = `runs, pid ${state.processes[name]?.pid}`
    line(name, problem === 'ended' ? 'ended' : problem === undefined ? runs : `${runs}, NOT READY: ${problem}`)
  }
  const pings = await pingsText(address)
  line('pings', pings)
  line('mail', mailText(state, settings))
  return pings === ACCEPTED && problems.every(({ name, problem }) => problem === undefined || name === 'demo')
}

/** Returns the reason that a process reports for not being ready; undefined if it is. */
async function processProblem(name: string, { processes, mail }: StackState): Promise<string | undefined> {
  const process = processes[name]
  if (!process || !(await isRunning(process))) return 'ended'
  if (name === 'demo') return undefined
  if (name === 'mail') return await portOpen(mail?.http ?? 0)()
  const text = await httpReady(`http://127.0.0.1:${process.metricsPort}`)()
  return text?.trim().replaceAll(/\s*\n\s*/g, '; ')
}

async function pingsText(address: string): Promise<string> {
  try {
    const { status } = await fetch(`${address}/readyz/pings`, { signal: AbortSignal.timeout(5_000) })
    return status === 200 ? ACCEPTED : 'are REFUSED with 503: the process cannot reach the broker'
  } catch {
    return 'are NOT ACCEPTED: the process does not answer'
  }
}

function mailText({ mail }: StackState, settings: Readonly<Record<string, string>>): string {
  if (mail) return `is caught, to be read at http://localhost:${mail.http}`
  if (settings.SMTP_URL_FILE) return 'is sent by the server of SMTP_URL_FILE'
  return settings.SMTP_URL ? `is sent by ${new URL(settings.SMTP_URL).host}` : 'is not sent: SMTP_URL is not set'
}
