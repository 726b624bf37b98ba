import { CACHE_EXCHANGE } from '../../contracts/topology.ts'
import { connectOnce } from './addresses.ts'

/** Returns false if the broker could not be reached; caches then expire after 30 seconds. */
export async function announceOnce(url: string, changes: readonly object[]): Promise<boolean> {
  if (changes.length === 0) return true
  try {
    const connection = await connectOnce(url, 'signalbox-admin')
    const channel = await connection.createConfirmChannel()
    channel.on('error', () => {})
    for (const change of changes) channel.publish(CACHE_EXCHANGE, '', Buffer.from(JSON.stringify(change)))
    await channel.waitForConfirms()
    await connection.close()
    return true
  } catch {
    return false
  }
}
