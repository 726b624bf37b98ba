import { userInfo } from 'node:os'
import type { BrokerControl } from './broker-admin.ts'
import { brokerRefusal, postgresRefusal } from './probe.ts'
import { runCommand } from './run-command.ts'

/** A PostgreSQL server on localhost's standard port that lets us in without being told how; undefined when none does. */
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

/** A broker on localhost's standard port with the login every RabbitMQ is born with; undefined when none answers. */
export async function answeringBroker(): Promise<{ url: string; control: BrokerControl | undefined } | undefined> {
  const url = 'amqp://guest:guest@127.0.0.1:5672'
  if (await brokerRefusal(url)) return undefined
  return { url, control: await controlOf(url) }
}

/** How a broker found by its URL can be administered; undefined when in no way we know. */
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
