import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { NO_TRACER, traced, traceHeaders } from '#shared/platform/process/tracing.ts'
import { tracedHandler } from '../ingress/middleware/request-safety.ts'
import { median } from './load.ts'
import type { Row } from './table.ts'

const CALLS = 1_000_000
/** Pings that share a message and the transaction that applies it; twice as many with 64 connections. */
const PINGS_PER_MESSAGE = 25

/**
 * Measures the processor time that traces add to a ping while they are off, compared with the same work without them.
 */
export async function benchTracesOff({ rounds }: { rounds: number }): Promise<Row> {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  let served = 0
  const handle = () => {
    served += 1
  }
  const wrapped = tracedHandler('ping', handle, NO_TRACER)
  const work = async () => served
  const each: number[] = []
  const shared: number[] = []
  // The first round is for compilation.
  for (let round = 0; round <= rounds; round++) {
    const without = await processorTime(() => repeat(() => handle()))
    const wrappedToo = await processorTime(() =>
      repeat(() => {
        wrapped(request, response)
        traceHeaders()
      }),
    )
    const plain = await processorTime(() => repeatAwaited(work))
    const around = await processorTime(() =>
      repeatAwaited(() => NO_TRACER.continued('pings', undefined, () => traced(() => 'db', 'client', {}, work))),
    )
    if (round === 0) continue
    each.push((wrappedToo - without) / CALLS)
    shared.push((around - plain) / CALLS)
  }
  if (served < CALLS) throw new Error('nothing was served')
  const perPing = median(each) + median(shared) / PINGS_PER_MESSAGE
  return { name: 'traces off, a ping', 'ns more': Math.round(perPing), limit: '500 ns' }
}

function repeat(call: () => void): void {
  for (let n = 0; n < CALLS; n++) call()
}

async function repeatAwaited(call: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < CALLS; n++) await call()
}

/** @returns nanoseconds of processor time, because wall time depends on other load */
async function processorTime(work: () => void | Promise<void>): Promise<number> {
  const from = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(from)
  return (user + system) * 1000
}
