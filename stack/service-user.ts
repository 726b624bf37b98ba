import { chownSync, mkdirSync } from 'node:fs'
import { runCommand } from './run-command.ts'

export type ServiceUser = { uid: number; gid: number }

/**
 * Returns the package's user for a server that root starts, because PostgreSQL refuses root and a broker does not need
 * it.
 * @returns undefined unless we are root
 */
export async function serviceUser(name: 'postgres' | 'rabbitmq'): Promise<ServiceUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  // 65534 is the user without permissions of every Linux distribution.
  for (const candidate of [name, '65534']) {
    const uid = await runCommand(['id', '-u', candidate])
    const gid = await runCommand(['id', '-g', candidate])
    if (uid.code === 0 && gid.code === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  return undefined
}

export function makePrivateFolder(path: string, owner: ServiceUser | undefined): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (owner) chownSync(path, owner.uid, owner.gid)
}

/** A checkout below /root is closed to other users. */
export async function canEnter(path: string, user: ServiceUser | undefined): Promise<boolean> {
  if (!user) return true
  return (await runCommand(['test', '-x', path], { ...user })).code === 0
}
