import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** Milliseconds between a response and the next ping. */
const PAUSE_MS = 2

// Runs in a separate thread, so that the attacker's work is not counted as time of the listener.

let slowestMs = 0
parentPort?.on('message', () => {
  parentPort?.postMessage(slowestMs)
  slowestMs = 0
})

for (;;) {
  const sent = performance.now()
  const answer = await fetch(String(workerData))
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`a ping was answered ${answer.status}`)
  slowestMs = Math.max(slowestMs, performance.now() - sent)
  await sleep(PAUSE_MS)
}
