import { sendSignal } from './process-identity.ts'
import { runCommand } from './run-command.ts'

/** Kills everything below a process, which may be this one. @returns how many there were */
export async function killBelow(pid: number): Promise<number> {
  const { stdout } = await runCommand(['ps', '-A', '-o', 'pid=,ppid='])
  const pids = below(pid, parentsOf(stdout))
  for (const each of pids) sendSignal(each, 'SIGKILL')
  return pids.length
}

/** What `ps` prints: a process and its parent in each line. */
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
