import { queueOf } from '#shared/contracts/define-message.ts'
import { messages } from '#shared/contracts/messages.ts'
import { isPingQueue } from '#shared/contracts/ping-batch.ts'
import { createLiveAnnouncer } from '#shared/platform/broker/live-announcer.ts'
import { openQueueWatch } from '#shared/platform/broker/queue-watch.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { openPlatform, type Platform } from '#shared/platform/process/open-platform.ts'
import { openRestoreGate } from '#shared/platform/process/restore-gate.ts'
import type { Worker, WorkerDeps } from './define-worker.ts'

/**
 * Starts workers in one process while its settings fit the installation, and stops them while they do not. `resources`
 * closes them: each stops consuming and finishes its work in progress.
 * @param shared platform of a process that also has listeners; opened here by default
 */
export async function startWorkers(
  resources: AsyncDisposableStack,
  chosen: readonly Worker[],
  config: Config,
  log: Log,
  override: Partial<WorkerDeps> = {},
  shared?: Platform,
): Promise<WorkerDeps> {
  const platform =
    shared ?? (await openPlatform(resources, `signalbox-${chosen.map(({ name }) => name).join('+')}`, config, log))
  const live = resources.use(createLiveAnnouncer(platform.broker))
  const deps: WorkerDeps = { config, ...platform, log, live, ...override }
  const watched = { broker: platform.broker, log, metrics: platform.metrics }
  const queueWatch = resources.use(openQueueWatch(watched, platform.installation.generations, isQueueOf(chosen)))
  platform.readiness.add(queueWatch.problems)
  const takesIn = chosen.filter(({ sends }) => !sends)
  const running = resources.use(createSwitch(() => startEach(takesIn, deps)))
  platform.installation.onChange((fits) => running.set(fits))
  const sends = chosen.filter((worker) => worker.sends)
  if (sends.length > 0) await openSenders(resources, sends, deps, platform)
  return deps
}

/** On a restored database they start only after the operator has verified it. */
async function openSenders(
  resources: AsyncDisposableStack,
  senders: readonly Worker[],
  deps: WorkerDeps,
  { installation, readiness }: Pick<Platform, 'installation' | 'readiness'>,
): Promise<void> {
  const { reserveDb: db, log, config } = deps
  const gate = resources.use(openRestoreGate({ db, log, directory: config.checkpointDir }))
  readiness.add(gate.problems)
  await gate.firstCheck()
  const running = resources.use(createSwitch(() => startEach(senders, deps)))
  const update = () => running.set(installation.problems().length === 0 && gate.problems().length === 0)
  installation.onChange(update)
  gate.onChange(update)
}

function startEach(chosen: readonly Worker[], deps: WorkerDeps): AsyncDisposableStack {
  const started = new AsyncDisposableStack()
  for (const worker of chosen) {
    for (const part of worker.start({ ...deps, log: deps.log.child({ worker: worker.name }) })) started.use(part)
  }
  return started
}

/** Starts and stops one after the other. Disposal stops permanently. */
function createSwitch(start: () => AsyncDisposable): { set(on: boolean): void } & AsyncDisposable {
  let running: AsyncDisposable | null = null
  let stopping: Promise<void> | null = null
  let isWanted = false
  let isClosed = false
  const set = (on: boolean) => {
    isWanted = on && !isClosed
    // A stopping worker is checked again after it stopped.
    if (stopping || isWanted === (running !== null)) return
    if (isWanted) {
      running = start()
      return
    }
    stopping = Promise.resolve(running?.[Symbol.asyncDispose]()).finally(() => {
      running = null
      stopping = null
      set(isWanted)
    })
  }
  return {
    set,
    async [Symbol.asyncDispose]() {
      isClosed = true
      set(false)
      await stopping
    },
  }
}

/** No contract names consumers of ping queues. */
function isQueueOf(chosen: readonly Worker[]): (queue: string) => boolean {
  const names = new Set(chosen.map(({ name }) => name))
  const own = new Set(
    messages.flatMap((message) =>
      message.consumers.filter((consumer) => names.has(consumer)).map((consumer) => queueOf(message, consumer)),
    ),
  )
  return (queue) => own.has(queue) || (names.has('ping-evaluator') && isPingQueue(queue))
}
