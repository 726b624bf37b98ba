import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrokerControl } from './broker-admin.ts'
import { brokerRefusal, postgresRefusal } from './probe.ts'
import { runCommand } from './run-command.ts'

/** Returns the reason if a service is not ready. */
export type Readiness = () => Promise<string | undefined>

/** @returns body of `/readyz`, with the reasons, while it is not ready */
export function httpReady(address: string): Readiness {
  return async () => {
    try {
      const response = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(5_000) })
      return response.status === 200 ? undefined : (await response.text()).slice(0, 500)
    } catch {
      return 'it does not answer yet'
    }
  }
}

export function portOpen(port: number): Readiness {
  return () =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      const answer = (reason: string | undefined) => {
        socket.destroy()
        resolve(reason)
      }
      socket.setTimeout(2_000, () => answer('it does not answer yet'))
      socket.once('connect', () => answer(undefined))
      socket.once('error', () => answer('it does not answer yet'))
    })
}

/** @param died returns the name of an ended process, which ends the wait @throws NotReady */
export async function untilReady(
  all: Readonly<Record<string, Readiness>>,
  died: () => Promise<string | undefined>,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (const [name, readiness] of Object.entries(all)) {
    for (;;) {
      const dead = await died()
      if (dead) throw new NotReady(dead, 'it ended')
      const reason = await readiness()
      if (reason === undefined) break
      if (performance.now() > deadline) throw new NotReady(name, reason)
      await sleep(200)
    }
  }
}

export class NotReady extends Error {
  readonly process: string
  constructor(process: string, reason: string) {
    super(`${process} is not ready: ${reason}`)
    this.process = process
  }
}

export async function answeringPostgres(): Promise<string | undefined> {
  const users = new Set(['postgres', userInfo().username])
  const logins = [...[...users].map(encodeURIComponent), 'postgres:postgres']
  for (const login of logins) {
    const url = `postgres://${login}@127.0.0.1:5432/postgres`
    const refusal = await postgresRefusal(url)
    if (!refusal) return url
    if (refusal.code === 'ECONNREFUSED') return undefined
  }
  return undefined
}

/** Uses the default login of RabbitMQ. */
export async function answeringBroker(): Promise<{ url: string; control: BrokerControl | undefined } | undefined> {
  const url = 'amqp://guest:guest@127.0.0.1:5672'
  if (await brokerRefusal(url)) return undefined
  return { url, control: await controlOf(url) }
}

/** @returns undefined if no administration is known for the URL */
export async function controlOf(amqpUrl: string): Promise<BrokerControl | undefined> {
  const { hostname } = new URL(amqpUrl)
  const managementUrl = `http://${hostname}:15672`
  if (await managementAnswers(managementUrl, amqpUrl)) return { managementUrl }
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (!isLocal) return undefined
  const { code } = await runCommand(['rabbitmqctl', '-q', 'eval', 'ok.'], { timeoutMs: 20_000 })
  return code === 0 ? { rabbitmqctl: ['rabbitmqctl', '-q'] } : undefined
}

async function managementAnswers(managementUrl: string, amqpUrl: string): Promise<boolean> {
  const { username, password } = new URL(amqpUrl)
  const login = `${decodeURIComponent(username) || 'guest'}:${decodeURIComponent(password) || 'guest'}`
  try {
    const response = await fetch(new URL('/api/whoami', managementUrl), {
      headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
      signal: AbortSignal.timeout(2_000),
    })
    return response.ok
  } catch {
    return false
  }
}

/** Below the ephemeral ports of Linux (from 32768) and the BSDs (from 49152), which outgoing connections could take. */
const [LOWEST, HIGHEST] = [20_000, 32_767]
const TRIES = 50

/** @throws Error if no tried port was free */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(LOWEST, HIGHEST + 1)
    if ((await portTrouble(port)) === undefined) return port
  }
  throw new Error(`no free port among ${TRIES} between ${LOWEST} and ${HIGHEST}`)
}

/** Returns the error code of listening (`EADDRINUSE`, `EACCES`). */
export async function portTrouble(port: number, host = '0.0.0.0'): Promise<string | undefined> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
}
