import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { identify } from './process-identity.ts'
import type { ManagedProcess } from './service-state.ts'
import { LOADER } from './stack-settings.ts'

const root = resolve(import.meta.dirname, '..')
const maximumLogBytes = 20 * 1024 * 1024

/** Settings are added to our environment. */
export type ProcessPlan = { name: string; command: readonly string[]; settings: Readonly<Record<string, string>> }

/** Returns a hash of all inputs of a process, to detect an outdated one. */
export function fingerprint(plan: ProcessPlan, code: string): string {
  return createHash('sha256')
    .update(JSON.stringify([plan.command, plan.settings, code]))
    .digest('hex')
    .slice(0, 16)
}

/** Covers paths, sizes and modification times. */
export function codeDigest(): string {
  const hash = createHash('sha256').update(process.version)
  for (const room of ['all', 'ingress', 'workers', 'shared', 'package-lock.json']) {
    for (const file of filesBelow(join(root, room))) {
      const { mtimeMs, size } = statSync(file)
      hash.update(`${file}\0${mtimeMs}\0${size}\n`)
    }
  }
  return hash.digest('hex')
}

/** The process outlives this one. Its output goes to `<folder>/logs/<name>.log`. */
export async function startProcess(plan: ProcessPlan, folder: string, code: string): Promise<ManagedProcess> {
  const log = logFile(folder, plan.name)
  mkdirSync(join(log, '..'), { recursive: true, mode: 0o700 })
  if (existsSync(log) && statSync(log).size > maximumLogBytes) renameSync(log, `${log}.1`)
  const output = openSync(log, 'a', 0o600)
  const child = spawn(process.execPath, [...LOADER, ...plan.command], {
    cwd: root,
    env: { ...process.env, ...plan.settings },
    detached: true,
    stdio: ['ignore', output, output],
  })
  child.unref()
  const identity = child.pid === undefined ? undefined : await identify(child.pid)
  if (!identity) throw new Error(`${plan.name} did not start:\n${logTail(folder, plan.name)}`)
  writeFileSync(pidFile(folder, plan.name), `${identity.pid}\n`)
  return { ...identity, fingerprint: fingerprint(plan, code), metricsPort: Number(plan.settings.METRICS_PORT) }
}

export function forgetProcess(folder: string, name: string): void {
  rmSync(pidFile(folder, name), { force: true })
}

export function logTail(folder: string, name: string, lines = 20): string {
  const log = logFile(folder, name)
  if (!existsSync(log)) return '(it wrote nothing)'
  return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
}

function logFile(folder: string, name: string): string {
  return join(folder, 'logs', `${name}.log`)
}

function pidFile(folder: string, name: string): string {
  return join(folder, `${name}.pid`)
}

function filesBelow(path: string): string[] {
  if (!existsSync(path)) return []
  if (statSync(path).isFile()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
