import { parentPort } from 'node:worker_threads'

/** Tasks for threads: each takes one value and returns one; both are copied between threads. */
export type ThreadTasks = Record<string, (input: never) => unknown>

/** Message to a thread. */
export interface ThreadCall {
  id: number
  task: string
  input: unknown
}

/** Message of a thread when it starts a task: the id of the call. */
export type TaskBegun = ThreadCall['id']

/** Returns the entry function of a thread, which runs the named task. */
export function taskRunner(tasks: ThreadTasks): (call: ThreadCall) => Promise<unknown> {
  return async ({ id, task, input }) => {
    const begun: TaskBegun = id
    parentPort?.postMessage(begun)
    // Threads.run matched the type of the input with the task.
    return await tasks[task]?.(input as never)
  }
}
