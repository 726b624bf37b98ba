import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createVhosts } from '../../stack/broker-admin.ts'
import { type LocalRabbit, rabbitBinaries, startLocalRabbit } from '../../stack/local-rabbit.ts'
import { brokerRefusal } from '../../stack/probe.ts'
import { identify, stopProcess } from '../../stack/process-identity.ts'

/** How long a handshake may take before the node counts as silent; a busy machine needs seconds. */
const HANDSHAKE_MS = 20_000
/** Silences in a row after which the node is started anew. */
const SILENCES = 2

type KeepBrokerOptions = {
  /** the node's folder, which is emptied when it is started anew */
  folder: string
  url: string
  pid: number
  /** the virtual hosts that a new node must have */
  vhosts: () => readonly string[]
  report: (line: string) => void
  /** time between two looks, in milliseconds; ten seconds unless told */
  everyMs?: number
  handshakeMs?: number
}

/**
 * Looks after the node of a run: when it stops answering it is killed and started anew on the same port, empty but for
 * its virtual hosts. The files that run at that moment fail; those after them do not.
 * @returns disposing ends the watch and the node that then runs
 */
export function keepBroker(options: KeepBrokerOptions): AsyncDisposable {
  const ended = new AbortController()
  const pid = watch(options, ended.signal)
  return {
    [Symbol.asyncDispose]: async () => {
      ended.abort()
      await killNode(await pid)
    },
  }
}

/** @returns the pid of the node that runs when the watch has ended */
async function watch(options: KeepBrokerOptions, ended: AbortSignal): Promise<number> {
  const { folder, url, vhosts, report, everyMs = 10_000, handshakeMs = HANDSHAKE_MS } = options
  let { pid } = options
  let silences = 0
  while (await passes(everyMs, ended)) {
    silences = (await brokerRefusal(url, handshakeMs)) ? silences + 1 : 0
    if (silences < SILENCES || ended.aborted) continue
    report('RabbitMQ stopped answering: starting it anew')
    try {
      pid = (await startAnew(folder, url, pid, vhosts())).pid
      report('RabbitMQ answers again')
      silences = 0
    } catch (error) {
      report(`RabbitMQ could not be started anew: ${String(error)}`)
    }
  }
  return pid
}

async function startAnew(folder: string, url: string, pid: number, vhosts: readonly string[]): Promise<LocalRabbit> {
  const bin = await rabbitBinaries()
  if (!bin) throw new Error('RabbitMQ is not installed any more')
  await killNode(pid)
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  const broker = await startLocalRabbit(bin, folder, Number(new URL(url).port))
  if (vhosts.length > 0) await createVhosts(broker.control, broker.url, vhosts)
  return broker
}

async function killNode(pid: number): Promise<void> {
  const node = await identify(pid)
  if (node) await stopProcess(node, 'SIGKILL', 10_000)
}

async function passes(ms: number, ended: AbortSignal): Promise<boolean> {
  return await sleep(ms, true, { signal: ended }).catch(() => false)
}
