import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresBinaries, startLocalPostgres } from './local-postgres.ts'
import { rabbitBinaries, rabbitControl, startLocalRabbit } from './local-rabbit.ts'
import { identify, isRunning, type ProcessIdentity } from './process-identity.ts'
import type { Starter } from './resolve-services.ts'
import { mustRun, runCommand } from './run-command.ts'
import { freePort, portTrouble } from './wait-until-ready.ts'

const install = {
  postgres: { debian: 'postgresql', homebrew: 'postgresql@17' },
  rabbitmq: { debian: 'rabbitmq-server', homebrew: 'rabbitmq' },
}

export type BinariesOptions = {
  /** parent of the data folders, which the next run reuses */
  folder: string
  /** preferred ports, so that addresses stay the same over restarts */
  ports?: { postgres?: number | undefined; rabbitmq?: number | undefined }
  /** servers of an earlier run; reused if they still run */
  running?: { postgres?: ProcessIdentity | undefined; rabbitmq?: ProcessIdentity | undefined }
  /** server settings for PostgreSQL */
  postgresOptions?: Readonly<Record<string, string>>
  /** additional arguments of the broker's Erlang VM */
  brokerErlang?: string
  report: (line: string) => void
}

/** As root on Debian and Ubuntu it installs missing packages. */
export function localBinaries(options: BinariesOptions): Starter {
  const { folder, ports = {}, running = {}, postgresOptions, brokerErlang = '', report } = options
  return {
    unavailable: async (service) => {
      const found = service === 'postgres' ? await postgresBinaries() : await rabbitBinaries()
      if (found || canInstall()) return undefined
      const { debian, homebrew } = install[service]
      return `install it (Debian, Ubuntu: apt-get install ${debian}; macOS: brew install ${homebrew})`
    },
    postgres: async () => {
      const bin = (await postgresBinaries()) ?? (await installed('postgres', postgresBinaries, report))
      if (ports.postgres && running.postgres && (await isRunning(running.postgres))) {
        return { url: `postgres://postgres@127.0.0.1:${ports.postgres}/postgres`, process: running.postgres }
      }
      report('starting a PostgreSQL server')
      const port = await usablePort(ports.postgres)
      const server = await startLocalPostgres(bin, join(folder, 'postgres'), port, postgresOptions)
      return { url: server.url, process: await identify(server.pid) }
    },
    broker: async () => {
      const bin = (await rabbitBinaries()) ?? (await installed('rabbitmq', rabbitBinaries, report))
      if (ports.rabbitmq && running.rabbitmq && (await isRunning(running.rabbitmq))) {
        const control = rabbitControl(bin, join(folder, 'rabbitmq'), ports.rabbitmq)
        return { url: `amqp://guest:guest@127.0.0.1:${ports.rabbitmq}`, control, process: running.rabbitmq }
      }
      report('starting a RabbitMQ node')
      const port = ports.rabbitmq ?? (await freePort()) // the node name and data depend on the port
      const { url, control, pid } = await startLocalRabbit(bin, join(folder, 'rabbitmq'), port, {
        erlang: brokerErlang,
      })
      return { url, control, process: await identify(pid) }
    },
  }
}

/** Keeps the previous port, so that addresses stay the same, unless another process uses it. */
async function usablePort(wanted: number | undefined): Promise<number> {
  return wanted !== undefined && (await portTrouble(wanted, '127.0.0.1')) === undefined ? wanted : await freePort()
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version')
}

async function installed(
  service: keyof typeof install,
  find: () => Promise<string | undefined>,
  report: (line: string) => void,
): Promise<string> {
  const { debian } = install[service]
  report(`installing ${debian} with apt (once; takes a minute)`)
  await withoutAutostart(async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const options = { env, timeoutMs: 600_000 }
    const hasLists = existsSync('/var/lib/apt/lists') && readdirSync('/var/lib/apt/lists').some((f) => f.includes('_'))
    const command = ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', debian]
    if (hasLists && (await runCommand(command, options)).code === 0) return
    await mustRun(['apt-get', 'update', '-qq'], options)
    await mustRun(command, options)
  })
  const bin = await find()
  if (!bin) throw new Error(`${debian} was installed, but its programs are not where they should be`)
  return bin
}

/** Prevents packages from starting services at installation, because `make down` could not stop them. */
async function withoutAutostart(work: () => Promise<void>): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d'
  if (existsSync(policy)) return await work()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    await work()
  } finally {
    rmSync(policy, { force: true })
  }
}
