import { parentPort } from 'node:worker_threads'

/** Inputs and results are copied between threads. */
export type ThreadTasks = Record<string, (input: never) => unknown>

export interface ThreadCall {
  id: number
  task: string
  input: unknown
}

export type TaskBegun = ThreadCall['id']

export function taskRunner(tasks: ThreadTasks): (call: ThreadCall) => Promise<unknown> {
  return async ({ id, task, input }) => {
    const begun: TaskBegun = id
    parentPort?.postMessage(begun)
    // Threads.run matched the type of the input with the task.
    return await tasks[task]?.(input as never)
  }
}
