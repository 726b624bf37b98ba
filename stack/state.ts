import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessIdentity } from './process-identity.ts'
import type { Origin } from './resolve-services.ts'

/** A process `make up` started; `fingerprint` stands for its command, settings and code. */
export type ManagedProcess = ProcessIdentity & { fingerprint: string; metricsPort: number }

/** What `make up` found and started, in `.local/stack.json`: all that `make down` may touch. */
export type StackState = {
  postgres?: { origin: Origin; process?: ProcessIdentity | undefined; port: number }
  broker?: { origin: Origin; process?: ProcessIdentity | undefined; port: number }
  /** where mails of an installation without a mail server of its own can be read */
  mail?: MailPorts | undefined
  processes: Record<string, ManagedProcess>
}

/** Ports of the mail catcher: where it takes mails, and where it shows them. */
export type MailPorts = { smtp: number; http: number }

/** @returns an empty state when nothing was ever started */
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

/** Replaces a file that only its owner may read, in one step: a reader sees the old text or the new. */
export function writePrivately(file: string, text: string): void {
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
