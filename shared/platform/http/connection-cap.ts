import type { Socket } from 'node:net'
import { addressBucket, isTrustedProxy, type TrustedProxies } from './remote-addr.ts'

export interface ConnectionCap {
  admit(socket: Socket): boolean
}

/** Counts an IPv6 /64 as one address; 0 means no limit. Excludes trusted proxies, which serve many clients. */
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
