import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMb } from './resident.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

const CONCURRENCY = 200
const IDLE_MS = 10_000

/** Measures the memory of an idle ingress before and after many clients that disconnected during a ping. */
export async function benchMemory({ aborted }: { aborted: number }): Promise<Row[]> {
  await using stack = await openBenchStack()
  const { port, child } = await stack.ingress()
  await stack.workers('ping-evaluator')
  const [uuid = ''] = await addChecks(stack.db, 1)
  const before = Math.round(residentMb(child.pid ?? 0))
  let left = aborted
  let most = before
  const abort = async () => {
    while (left-- > 0) {
      await abortOne(port, uuid)
      if (left % 1_000 === 0) most = Math.max(most, Math.round(residentMb(child.pid ?? 0)))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, abort))
  await sleep(IDLE_MS)
  return [
    {
      name: `ingress, ${aborted} connections aborted during a request`,
      'MB before': before,
      'MB at most': most,
      'MB after': Math.round(residentMb(child.pid ?? 0)),
      limit: '250 MB',
      goal: '180 MB',
    },
  ]
}

/** The headers announce a body that is not sent. */
async function abortOne(port: number, uuid: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('error', () => socket.destroy())
    socket.once('close', () => resolve())
    socket.once('connect', () => {
      socket.write(`POST /ping/${uuid} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf`, () =>
        socket.resetAndDestroy(),
      )
    })
  })
}
