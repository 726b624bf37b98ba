import { SHUTDOWN_SECONDS } from '#shared/platform/process/run-process.ts'
import { settings as known } from '#shared/platform/process/settings.ts'
import { isRunning, stopProcess } from './process-identity.ts'
import { codeDigest, fingerprint, forgetProcess, logTail, type ProcessPlan, startProcess } from './processes.ts'
import type { DemoProject, MailPorts, StackState } from './service-state.ts'
import { ALL_HEAP } from './stack-settings.ts'
import { freePort, httpReady, NotReady, portOpen, portTrouble, untilReady } from './wait-until-ready.ts'

/** Timeout for work in flight before a process is killed. */
export const stopTimeoutMs = (SHUTDOWN_SECONDS + 5) * 1000

export type StartOptions = {
  settings: Readonly<Record<string, string>>
  folder: string
  state: StackState
  save: () => void
  say: (line: string) => void
}

/**
 * Starts one process with both listeners and all workers in the background, the mail catcher if there is no mail
 * server, and the pings of the demo if it exists. Waits until all are ready. Keeps processes that already run with the same settings.
 * @throws Error with the port that is in use, or the end of the log of the failed process
 */
export async function startProcesses({ settings, folder, state, save, say }: StartOptions): Promise<void> {
  const code = codeDigest()
  const plans = await processPlans(settings, state)
  const stale: ProcessPlan[] = []
  for (const plan of plans) {
    const old = state.processes[plan.name]
    if (old?.fingerprint === fingerprint(plan, code) && (await isRunning(old))) continue
    if (old && (await stopProcess(old, 'SIGINT', stopTimeoutMs)))
      say(`${plan.name} restarts with its new settings or code`)
    stale.push(plan)
  }
  const superfluous = Object.keys(state.processes).filter((name) => !plans.some((plan) => plan.name === name))
  for (const name of superfluous) {
    const old = state.processes[name]
    if (old && (await stopProcess(old, 'SIGINT', stopTimeoutMs))) say(`stopped ${name}, which is no longer needed`)
    forgetProcess(folder, name)
    delete state.processes[name]
  }
  for (const plan of stale) await refuseTakenPort(plan)
  for (const plan of stale) {
    state.processes[plan.name] = await startProcess(plan, folder, code)
    save()
  }
  say(
    stale.length > 0 ? `waiting for ${stale.map(({ name }) => name).join(', ')}` : 'all processes are already running',
  )
  const died = async () => {
    // The demo ends when its project is deleted.
    for (const [name, process] of Object.entries(state.processes))
      if (name !== 'demo' && !(await isRunning(process))) return name
    return undefined
  }
  try {
    // Only the metrics port reports why a process is not ready.
    const ready = {
      ...(state.mail && { mail: portOpen(state.mail.http) }),
      all: httpReady(`http://127.0.0.1:${state.processes.all?.metricsPort}`),
    }
    await untilReady(ready, died, 90_000)
  } catch (error) {
    if (!(error instanceof NotReady)) throw error
    if (!(await isRunning(state.processes[error.process] ?? { pid: 0, startedAt: '' })))
      forgetProcess(folder, error.process)
    throw new Error(
      `${error.message}\nThe end of its log (.local/logs/${error.process}.log):\n${logTail(folder, error.process)}`,
    )
  }
}

/** Keeps the metrics port of a running process; otherwise takes METRICS_PORT, or a free port if that is in use. */
async function processPlans(settings: Readonly<Record<string, string>>, state: StackState): Promise<ProcessPlan[]> {
  const wanted = Number(settings.METRICS_PORT ?? known.METRICS_PORT.fallback)
  const old = state.processes.all
  const isOurs = old !== undefined && (await isRunning(old))
  const keeps = isOurs && (settings.METRICS_PORT === undefined || old.metricsPort === wanted)
  const isUsable = settings.METRICS_PORT !== undefined || (await portTrouble(wanted, '127.0.0.1')) === undefined
  const port = keeps ? old.metricsPort : isUsable && wanted !== 0 ? wanted : await freePort()
  const all = {
    name: 'all',
    command: [...ALL_HEAP, 'all/main.ts'],
    settings: { ...settings, METRICS_PORT: String(port) },
  }
  return [
    ...(state.mail ? [mailPlan(state.mail)] : []),
    all,
    ...(state.demo ? [demoPlan(state.demo, `http://localhost:${settings.PORT}`)] : []),
  ]
}

function demoPlan({ apiKey, pingKey }: DemoProject, address: string): ProcessPlan {
  const settings = { DEMO_ADDRESS: address, DEMO_API_KEY: apiKey, DEMO_PING_KEY: pingKey, METRICS_PORT: '0' }
  return { name: 'demo', command: ['stack/demo-pinger.ts'], settings }
}

/** The mail catcher has no metrics, and accepts mail of this machine only. */
function mailPlan({ smtp, http }: MailPorts): ProcessPlan {
  const settings = { HOST: '127.0.0.1', MAIL_SMTP_PORT: String(smtp), MAIL_HTTP_PORT: String(http), METRICS_PORT: '0' }
  return { name: 'mail', command: ['stack/mail-catcher.ts'], settings }
}

/** Returns the current ports, otherwise the default or free ones. */
export async function mailPorts({ mail, processes }: StackState): Promise<MailPorts> {
  if (mail && processes.mail && (await isRunning(processes.mail))) return mail
  const free = async (port: number) => ((await portTrouble(port, '127.0.0.1')) === undefined ? port : await freePort())
  return { smtp: await free(1025), http: await free(8025) }
}

async function refuseTakenPort({ name, settings }: ProcessPlan): Promise<void> {
  if (name !== 'all') return
  for (const setting of ['PORT', 'METRICS_PORT', 'SMTP_PORT']) {
    const port = Number(settings[setting])
    const trouble = await portTrouble(port, setting === 'METRICS_PORT' ? '127.0.0.1' : (settings.HOST ?? '0.0.0.0'))
    if (trouble === undefined) continue
    const why = trouble === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${trouble})`
    throw new Error(`port ${port} ${why}: free it, or choose another with ${setting}=... make up`)
  }
}
