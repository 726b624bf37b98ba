import { randomBytes } from 'node:crypto'
import { type BrokerControl, createVhosts, vhostExists, vhostUrl } from './broker-admin.ts'
import { createDatabaseIfMissing, databaseName, databaseUrl, withClient } from './database-admin.ts'
import { brokerRefusal, postgresRefusal } from './probe.ts'
import type { Services } from './resolve-services.ts'

export type Addresses = { DATABASE_URL: string; AMQP_URL: string }

/**
 * Returns a database and a virtual host for this stack. Names in the environment's URLs are used, and created if
 * permitted. Otherwise the name is that of the last run, or `signalbox`. If `signalbox` exists, it gets a random
 * suffix, because data of unknown origin has an unknown key. The database URL is the owner's.
 */
export async function ownNames(
  { postgres, broker }: Services,
  previous: Readonly<Record<string, string>>,
): Promise<Addresses> {
  const database =
    postgres.origin === 'environment' || postgres.origin === 'docker'
      ? await existingDatabase(postgres.url)
      : await ownDatabase(postgres.url, previous.DATABASE_OWNER_URL ?? previous.DATABASE_URL)
  const amqp =
    broker.origin === 'environment' || broker.origin === 'docker'
      ? await existingVhost(broker.url, broker.control)
      : await ownVhost(broker.url, broker.control, previous.AMQP_URL)
  return { DATABASE_URL: database, AMQP_URL: amqp }
}

async function existingDatabase(url: string): Promise<string> {
  const refusal = await postgresRefusal(url)
  if (refusal?.code === '3D000') {
    await withClient(databaseUrl(url, 'postgres'), (client) => createDatabaseIfMissing(client, databaseName(url)))
    return url
  }
  if (refusal) throw new Error(`DATABASE_URL: ${refusal.message}`)
  return url
}

async function ownDatabase(url: string, previous: string | undefined): Promise<string> {
  return await withClient(url, async (client) => {
    if (previous !== undefined && sameServer(url, previous)) {
      await createDatabaseIfMissing(client, databaseName(previous))
      return previous
    }
    const names = ['signalbox', `signalbox_${randomBytes(3).toString('hex')}`]
    for (const name of names) {
      if (await createDatabaseIfMissing(client, name)) return databaseUrl(url, name)
    }
    throw new Error('could not create a database')
  })
}

async function existingVhost(url: string, control: BrokerControl | undefined): Promise<string> {
  const refusal = await brokerRefusal(url)
  if (!refusal) return url
  const vhost = decodeURIComponent(new URL(url).pathname.slice(1))
  // Brokers answer NOT_ALLOWED if the virtual host is missing.
  if (!/vhost|NOT_ALLOWED/i.test(refusal.message) || !control || !vhost) throw new Error(`AMQP_URL: ${refusal.message}`)
  await createVhosts(control, url, [vhost])
  return url
}

async function ownVhost(
  url: string,
  control: BrokerControl | undefined,
  previous: string | undefined,
): Promise<string> {
  if (previous !== undefined && sameServer(url, previous) && !(await brokerRefusal(previous))) return previous
  if (!control) return url // without administration only its default virtual host is available
  let name = 'signalbox'
  while (await vhostExists(control, url, name)) name = `signalbox-${randomBytes(3).toString('hex')}`
  await createVhosts(control, url, [name])
  return vhostUrl(url, name)
}

function sameServer(one: string, other: string): boolean {
  return new URL(one).host === new URL(other).host
}
