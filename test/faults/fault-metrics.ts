import type { WorkerDeps } from '../../workers/define-worker.ts'
import { eventually } from '../support/eventually.ts'

/** Returns the value of a metric in the Prometheus text format, summed over its labels; 0 if it is missing. */
export function metricIn(text: string, name: string): number {
  let sum = 0
  for (const line of text.split('\n')) {
    if (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) sum += Number(line.slice(line.lastIndexOf(' ') + 1))
  }
  return sum
}

/** Returns the metrics of a process; empty if its port does not answer. */
export async function scrape(port: number): Promise<string> {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  } catch {
    return ''
  }
}

/** Waits until a worker has handled a message. */
export async function handledBy({ metrics }: Pick<WorkerDeps, 'metrics'>): Promise<void> {
  await eventually('a message to be handled', async () => {
    const { values } = await metrics.handled.get()
    return values.some(({ metricName, value }) => metricName?.endsWith('_count') && value > 0)
  })
}
