import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { INGRESS_HEAP, LOADER } from '../../stack/stack-settings.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { listeningPort, openProduct, type Product } from '../support/product.ts'

const BROKEN_OFF = 4_000
const SIDE_BY_SIDE = 50
/** Limits of memory in use afterwards. A referenced socket with its request needs over ten times as much. */
const BYTES_LEFT_EACH = 1_500
/** Clients after which a process without its memory options exceeds the limit. */
const FLOOD = 15_000
const LIMIT_BYTES = 250 * 1024 * 1024
/** Maximum time until the memory is free again. */
const BACK_MS = 60_000

setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')

async function addCheck(product: Product): Promise<string> {
  const { id } = await product.project()
  const [check] = await product.db('checks').insert({ project_id: id }).returning('uuid')
  return String(check?.uuid)
}

/** Connects clients that disconnect before they send the announced body. */
async function breakOff(port: number, uuid: string, count: number): Promise<void> {
  const request = `POST /ping/${uuid} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf`
  let left = count
  const one = async () => {
    while (left-- > 0) {
      await new Promise<void>((resolve) => {
        const socket = connect({ port, host: '127.0.0.1' })
        socket.once('error', () => socket.destroy()).once('close', () => resolve())
        socket.once('connect', () => socket.write(request, () => socket.resetAndDestroy()))
      })
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one))
}

/** Returns the bytes in use after a garbage collection. */
function held(): number {
  if (typeof collectGarbage === 'function') collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test.serial(`${BROKEN_OFF} clients that disconnect during a ping leave no memory in use`, async (t) => {
  await using product = await openProduct()
  const uuid = await addCheck(product)
  const { base } = await product.ingress()
  const port = Number(new URL(base).port)
  // The first clients fill caches and compile code.
  await breakOff(port, uuid, BROKEN_OFF / 4)
  const before = held()
  await breakOff(port, uuid, BROKEN_OFF)
  await eventually('the memory to be free again', () => held() < before + BROKEN_OFF * BYTES_LEFT_EACH)
  t.pass()
})

test.serial(`an ingress process frees its memory after ${FLOOD} clients disconnected`, async (t) => {
  await using product = await openProduct()
  const uuid = await addCheck(product)
  const metricsPort = await freePort()
  const ingress = product.spawn('ingress', [], { METRICS_PORT: String(metricsPort) })
  await breakOff(await listeningPort(ingress), uuid, FLOOD)
  const resident = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1])
  }
  t.log(`${Math.round((await resident()) / 1024 / 1024)} MB at the end of the flood`)
  await eventually('the memory to be below the limit again', async () => (await resident()) < LIMIT_BYTES, BACK_MS)
  t.pass()
})

test.serial('every way to start an ingress limits the heap equally', (t) => {
  const options = INGRESS_HEAP.join(' ')
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  t.is(scripts.ingress, `node ${options} ${LOADER.join(' ')} ingress/main.ts`)
  const command = /^CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? '[]'
  t.deepEqual(JSON.parse(command), ['node', ...INGRESS_HEAP, ...LOADER, 'ingress/main.ts'])
})
