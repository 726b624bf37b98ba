import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from './run-command.ts'

/** Includes the start time, because pids are reused. */
export type ProcessIdentity = { pid: number; startedAt: string }

/** @returns undefined for a missing process and a zombie */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : await psStart(pid)
  return startedAt === undefined ? undefined : { pid, startedAt }
}

export async function isRunning({ pid, startedAt }: ProcessIdentity): Promise<boolean> {
  return (await identify(pid))?.startedAt === startedAt
}

/**
 * Stops a process, or kills it after `stopTimeoutMs`. Ignores a reused pid.
 * @returns true if it was running
 */
export async function stopProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  stopTimeoutMs: number,
): Promise<boolean> {
  if (!(await isRunning(identity))) return false
  sendSignal(identity.pid, signal)
  const deadline = performance.now() + stopTimeoutMs
  while (await isRunning(identity)) {
    if (performance.now() > deadline) sendSignal(identity.pid, 'SIGKILL')
    await sleep(50)
  }
  return true
}

/** Ignores a process that has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // it ended before the signal
  }
}

function linuxStart(pid: number): string | undefined {
  try {
    // The name in brackets may contain brackets and spaces; state is the 1st field after it, start time the 20th.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

async function psStart(pid: number): Promise<string | undefined> {
  const { code, stdout } = await runCommand(['ps', '-o', 'lstart=', '-p', String(pid)])
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : undefined
}
