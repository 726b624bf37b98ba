import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessIdentity, sendSignal } from './process-identity.ts'
import type { Origin } from './resolve-services.ts'
import { runCommand } from './run-command.ts'
import { canEnter, serviceUser } from './service-user.ts'

/** `fingerprint` is a hash of command, settings and code. */
export type ManagedProcess = ProcessIdentity & { fingerprint: string; metricsPort: number }

/** Services that `make up` found or started, in `.local/stack.json`. `make down` stops only these. */
export type StackState = {
  postgres?: { origin: Origin; process?: ProcessIdentity | undefined; port: number }
  broker?: { origin: Origin; process?: ProcessIdentity | undefined; port: number }
  /** set for an installation without a mail server */
  mail?: MailPorts | undefined
  /** the project that `make demo` created, whose checks a process pings */
  demo?: DemoProject
  processes: Record<string, ManagedProcess>
}

export type DemoProject = { projectId: string; apiKey: string; pingKey: string }

export type MailPorts = { smtp: number; http: number }

/** @returns an empty state before the first start */
export function readState(folder: string): StackState {
  try {
    return JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'))
  } catch {
    return { processes: {} }
  }
}

export function writeState(folder: string, state: StackState): void {
  writePrivately(join(folder, 'stack.json'), `${JSON.stringify(state, null, 2)}\n`)
}

/** The replacement is atomic; only its owner may read the file. */
export function writePrivately(file: string, text: string): void {
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** Kills all descendants of a process, which may be this one. @returns the number of killed processes */
export async function killBelow(pid: number): Promise<number> {
  const { stdout } = await runCommand(['ps', '-A', '-o', 'pid=,ppid='])
  const pids = below(pid, parentsOf(stdout))
  for (const each of pids) sendSignal(each, 'SIGKILL')
  return pids.length
}

function parentsOf(listing: string): [pid: number, parent: number][] {
  return listing
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0]) => [pid, parent])
}

function below(root: number, parents: readonly [pid: number, parent: number][]): number[] {
  const children = parents.filter(([, parent]) => parent === root).map(([pid]) => pid)
  return children.flatMap((pid) => [pid, ...below(pid, parents)])
}

/**
 * Returns `.local/`'s subfolder for server data. As root with a checkout in /root, which server users cannot enter, it
 * is a folder of /var/tmp.
 */
export async function serverFolder(folder: string): Promise<string> {
  const servers = `${folder}/servers`
  mkdirSync(servers, { recursive: true, mode: 0o755 })
  if (await canEnter(servers, await serviceUser('postgres'))) return servers
  const elsewhere = `/var/tmp/signalbox-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 })
  return elsewhere
}
