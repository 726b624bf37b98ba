import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrokerControl } from './broker-admin.ts'
import { brokerRefusal, untilAnswers } from './probe.ts'
import { sendSignal } from './process-identity.ts'
import { runCommand } from './run-command.ts'
import { makePrivateFolder, type ServiceUser, serviceUser } from './service-user.ts'
import { freePort } from './wait-until-ready.ts'

export type LocalRabbit = { url: string; port: number; pid: number; control: BrokerControl }

/** @returns undefined if RabbitMQ is not installed */
export async function rabbitBinaries(): Promise<string | undefined> {
  // Debian's commands in /usr/sbin use only the system-wide node.
  const folders = ['/usr/lib/rabbitmq/bin', '/usr/local/opt/rabbitmq/sbin', '/opt/homebrew/opt/rabbitmq/sbin']
  const packaged = folders.find((folder) => existsSync(join(folder, 'rabbitmq-server')))
  if (packaged) return packaged
  const { code, stdout } = await runCommand(['sh', '-c', 'command -v rabbitmq-server'])
  return code === 0 ? join(stdout.trim(), '..') : undefined
}

export interface RabbitOptions {
  settings?: readonly string[]
  /** shared by the nodes of a cluster; a new one by default */
  cookie?: string | undefined
  plugins?: readonly string[]
  erlang?: string
}

/**
 * Starts a broker on the loopback with a separate node in `folder`. Leaves the machine's port mapper (epmd) running.
 * @throws Error with the end of the broker's output
 */
export async function startLocalRabbit(
  bin: string,
  folder: string,
  port: number,
  options: RabbitOptions = {},
): Promise<LocalRabbit> {
  const user = await serviceUser('rabbitmq')
  makePrivateFolder(folder, user)
  prepareNode(folder, port, options, user)
  const environment = {
    ...nodeEnvironment(folder, port, options.erlang),
    RABBITMQ_DIST_PORT: String(await freePort()),
  }
  const output = openSync(join(folder, 'output.log'), 'w', 0o600)
  const child = spawn(join(bin, 'rabbitmq-server'), [], {
    ...user,
    cwd: folder,
    env: { ...process.env, ...environment },
    detached: true, // not stopped by Ctrl-C in the terminal
    stdio: ['ignore', output, output],
  })
  child.unref()
  const url = `amqp://guest:guest@127.0.0.1:${port}`
  try {
    await untilAnswers(() => brokerRefusal(url), {
      what: `RabbitMQ on port ${port}`,
      timeoutMs: 180_000,
      gaveUp: () =>
        child.exitCode === null && child.pid !== undefined ? undefined : lastLines(join(folder, 'output.log')),
    })
  } catch (error) {
    // The state does not list the process yet, so nothing else would end it.
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL')
    throw error
  }
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  return { url, port, pid, control: rabbitControl(bin, folder, port) }
}

export function rabbitControl(bin: string, folder: string, port: number): BrokerControl {
  return { rabbitmqctl: [join(bin, 'rabbitmqctl'), '-q'], env: nodeEnvironment(folder, port) }
}

export function rabbitNode(port: number): string {
  return `signalbox-${port}@localhost`
}

/**
 * Settings of docs/scale.md for clusters, in a form of every version: another member leads the queues of a frozen one
 * after some seconds.
 */
const ADVANCED = '[{aten, [{poll_interval, 1000}]}].\n'

function prepareNode(folder: string, port: number, options: RabbitOptions, user: ServiceUser | undefined): void {
  const { settings = [], cookie = randomBytes(20).toString('hex'), plugins = [] } = options
  const write = (name: string, text: string, mode: number) => {
    writeFileSync(join(folder, name), text, { mode })
    if (user) chownSync(join(folder, name), user.uid, user.gid)
  }
  for (const name of ['data', 'logs']) {
    mkdirSync(join(folder, name), { recursive: true })
    if (user) chownSync(join(folder, name), user.uid, user.gid)
  }
  if (!existsSync(join(folder, '.erlang.cookie'))) write('.erlang.cookie', cookie, 0o400)
  write('enabled_plugins', `[${plugins.join(',')}].\n`, 0o600)
  write('rabbitmq-env.conf', '', 0o600)
  write('advanced.config', ADVANCED, 0o600)
  write('rabbitmq.conf', [`listeners.tcp.1 = 127.0.0.1:${port}`, ...settings, ''].join('\n'), 0o600)
}

function nodeEnvironment(folder: string, port: number, erlang = ''): Record<string, string> {
  return {
    HOME: folder,
    RABBITMQ_NODENAME: rabbitNode(port),
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'logs'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(folder, 'advanced.config'),
    RABBITMQ_CONFIG_FILES: join(folder, 'no-conf.d'),
    RABBITMQ_CONF_ENV_FILE: join(folder, 'rabbitmq-env.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    // Busy-waiting schedulers of an idle broker would use a whole core of a small machine.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `+sbwt none +sbwtdcpu none +sbwtdio none ${erlang}`.trim(),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_FLAGS: '-kernel inet_dist_use_interface {127,0,0,1}',
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-10).join('\n')
}
