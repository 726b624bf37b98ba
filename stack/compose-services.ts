import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brokerRefusal, postgresRefusal, untilAnswers } from './probe.ts'
import type { Starter } from './resolve-services.ts'
import { mustRun, runCommand } from './run-command.ts'

const root = resolve(import.meta.dirname, '..')

/** Each checkout has its own project name of Docker Compose, so that checkouts do not share containers or data. */
const project = `signalbox-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`

/** The `docker` command alone proves nothing, because it may be installed without an engine. */
async function isEngineRunning(): Promise<boolean> {
  const { code, stdout } = await runCommand(['docker', 'version', '--format', '{{.Server.Version}}'], {
    timeoutMs: 10_000,
  })
  return code === 0 && stdout.trim() !== ''
}

/**
 * Starts PostgreSQL and RabbitMQ of compose.yaml. The published ports are
 * POSTGRES_PORT and RABBITMQ_PORT of the loopback address, by default free ones.
 * @param secretsFolder contains the passwords that the containers use
 * @param report receives one line per start
 */
export function composeServices(secretsFolder: string, report: (line: string) => void): Starter {
  let command: readonly string[] | undefined
  return {
    unavailable: async () => {
      if (!(await isEngineRunning())) return 'start a Docker engine'
      command = await composeCommand()
      return command ? undefined : 'install docker compose'
    },
    postgres: async () => {
      report('starting PostgreSQL with docker compose')
      const port = await startService(command, 'postgres', 5432)
      const password = readFileSync(join(secretsFolder, 'database_password'), 'utf8')
      const url = `postgres://signalbox:${password}@127.0.0.1:${port}/signalbox`
      await untilAnswers(() => postgresRefusal(url), { what: 'PostgreSQL in its container', timeoutMs: 120_000 })
      return { url }
    },
    broker: async () => {
      report('starting RabbitMQ with docker compose')
      const port = await startService(command, 'rabbitmq', 5672)
      const password = readFileSync(join(secretsFolder, 'broker_password'), 'utf8')
      const url = `amqp://signalbox:${password}@127.0.0.1:${port}`
      await untilAnswers(() => brokerRefusal(url), { what: 'RabbitMQ in its container', timeoutMs: 180_000 })
      return { url }
    },
  }
}

/** Stops and removes the containers. The volumes, which contain all data, remain. */
export async function composeDown(): Promise<void> {
  const command = await composeCommand()
  if (command && (await isEngineRunning())) await mustRun([...command, 'down'], { cwd: root, timeoutMs: 120_000 })
}

/** @returns the published port of the container's `port` */
async function startService(command: readonly string[] | undefined, service: string, port: number): Promise<number> {
  if (!command) throw new Error('docker compose is not installed')
  await mustRun([...command, 'up', '-d', service], { cwd: root, timeoutMs: 600_000 })
  const address = await mustRun([...command, 'port', service, String(port)], { cwd: root })
  return Number(address.trim().split(':').at(-1))
}

/** Prefers the plugin of the `docker` command. Returns undefined if neither form is installed. */
async function composeCommand(): Promise<readonly string[] | undefined> {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const { code } = await runCommand([...command, 'version'], { timeoutMs: 20_000 })
    if (code === 0) return [...command, '-p', project]
  }
  return undefined
}
