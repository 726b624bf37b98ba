import { parentPort } from 'node:worker_threads'

/** What may run in threads: each takes one value and gives one, both of which are copied between threads. */
export type ThreadTasks = Record<string, (input: never) => unknown>

/** What a thread is sent. */
export interface ThreadCall {
  id: number
  task: string
  input: unknown
}

/** What a thread sends when it takes a call, before it does it: the call's id. */
export type TaskBegun = ThreadCall['id']

/** What a thread does with what it is sent. */
export function taskRunner(tasks: ThreadTasks): (call: ThreadCall) => Promise<unknown> {
  return async ({ id, task, input }) => {
    const begun: TaskBegun = id
    parentPort?.postMessage(begun)
    // Threads.run has matched the input with the task.
    return await tasks[task]?.(input as never)
  }
}
