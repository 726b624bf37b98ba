import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** Milliseconds between an answer and the next ping: a tenant that pings often, and no load of its own. */
const PAUSE_MS = 2

// A thread of its own: what the attacker's side of a measurement costs must not count as time of the listener.

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
