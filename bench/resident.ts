import { readFileSync } from 'node:fs'

/** Returns the resident memory of a process in MB; NaN if the platform does not report it (only Linux does). */
export function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}
