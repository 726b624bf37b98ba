import type { Worker } from '../../workers/define-worker.ts'

/** A notifier sends the notifications that an alerter decides, so a request for one starts both. */
export function withAlerter(names: readonly string[]): string[] {
  return names.includes('notifier') && !names.includes('alerter') ? [...names, 'alerter'] : [...names]
}

/**
 * Loads only the named workers, because all of them take a quarter of a second of processor time.
 * @throws Error when there is no such worker
 */
export async function loadWorkers(names: readonly string[]): Promise<Worker[]> {
  return await Promise.all(withAlerter(names).map(loadWorker))
}

/** A worker is exported by the file with its name in the folder with its name. */
async function loadWorker(name: string): Promise<Worker> {
  const exported: Record<string, unknown> = await import(`../../workers/${name}/${name}.ts`)
  const worker = Object.values(exported).find((one) => isWorker(one) && one.name === name)
  if (!worker) throw new Error(`workers/${name}/${name}.ts exports no worker ${name}`)
  return worker as Worker
}

function isWorker(value: unknown): value is Worker {
  return typeof value === 'object' && value !== null && 'start' in value && 'name' in value
}
