import { readFileSync } from 'node:fs'

/** Resident memory of a process in MB; not a number where the machine does not tell (only Linux does). */
export function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}
