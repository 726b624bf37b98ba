import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { canEnter, serviceUser } from './service-user.ts'

/**
 * Where servers of our own keep their data: below `.local/`, unless we are root and the users that servers run as cannot
 * get there (a checkout in /root): then in a folder of /var/tmp named after the checkout.
 */
export async function serverFolder(folder: string): Promise<string> {
  const servers = `${folder}/servers`
  mkdirSync(servers, { recursive: true, mode: 0o755 })
  if (await canEnter(servers, await serviceUser('postgres'))) return servers
  const elsewhere = `/var/tmp/signalbox-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 })
  return elsewhere
}
