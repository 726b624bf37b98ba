import { chownSync, mkdirSync } from 'node:fs'
import { runCommand } from './run-command.ts'

export type ServiceUser = { uid: number; gid: number }

/**
 * Whom a server started by root should run as: the user its package made, because PostgreSQL refuses root and a broker
 * has no need of it.
 * @returns undefined when we are not root: then it runs as whoever we are
 */
export async function serviceUser(name: 'postgres' | 'rabbitmq'): Promise<ServiceUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const candidate of [name, 'nobody']) {
    const uid = await runCommand(['id', '-u', candidate])
    const gid = await runCommand(['id', '-g', candidate])
    if (uid.code === 0 && gid.code === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  return undefined
}

/** Makes a folder that only this user can enter. */
export function makePrivateFolder(path: string, owner: ServiceUser | undefined): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (owner) chownSync(path, owner.uid, owner.gid)
}

/** Whether the user can reach a folder; a checkout below /root is closed to everybody else. */
export async function canEnter(path: string, user: ServiceUser | undefined): Promise<boolean> {
  if (!user) return true
  return (await runCommand(['test', '-x', path], { ...user })).code === 0
}
