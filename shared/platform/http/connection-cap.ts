import type { Socket } from 'node:net'
import { addressBucket, isTrustedProxy, type TrustedProxies } from './remote-addr.ts'

export interface ConnectionCap {
  /** Whether a connection may stay. One that may is counted until it closes. */
  admit(socket: Socket): boolean
}

/**
 * Counts the open connections of each address at one listener; an IPv6 network of 64 bits is one address.
 * @param max of one address; 0 for no limit
 * @param trusted proxies, behind whose address everybody comes: they are not limited
 */
export function createConnectionCap(max: number, trusted: TrustedProxies): ConnectionCap {
  const open = new Map<string, number>()
  return {
    admit(socket) {
      const { remoteAddress } = socket
      if (max === 0 || isTrustedProxy(remoteAddress, trusted)) return true
      const address = addressBucket(remoteAddress)
      const count = (open.get(address) ?? 0) + 1
      if (count > max) return false
      open.set(address, count)
      socket.on('close', () => {
        const left = (open.get(address) ?? 1) - 1
        if (left === 0) open.delete(address)
        else open.set(address, left)
      })
      return true
    },
  }
}
