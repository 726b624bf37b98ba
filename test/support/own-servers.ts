import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresBinaries, startLocalPostgres, stopLocalPostgres } from '../../stack/local-postgres.ts'
import { rabbitBinaries, rabbitNode, startLocalRabbit } from '../../stack/local-rabbit.ts'
import { identify, sendSignal, stopProcess } from '../../stack/process-identity.ts'
import { mustRun, runCommand } from '../../stack/run-command.ts'
import { makePrivateFolder, serviceUser } from '../../stack/service-user.ts'
import { freePort } from './free-port.ts'

/** A PostgreSQL server of a test's own, to be stopped, killed and started again on the same port and data. */
export type OwnPostgres = AsyncDisposable & {
  url: string
  port: number
  /** Ends it in order; connections are broken off. */
  stop(): Promise<void>
  /** `kill -9` of the server: what a power cut leaves. */
  kill(): Promise<void>
  start(): Promise<void>
  /** All its processes stand still, or go on: what a stalled disk or a paused machine looks like. */
  freeze(isOn: boolean): Promise<void>
  /** A streaming standby of it on a port of its own: hot, and asynchronous unless the primary asks for more. */
  standby(): Promise<OwnStandby>
  drop(): Promise<void>
}

export type OwnStandby = OwnPostgres & {
  /** Ends its recovery; it is a primary, on the next timeline, once this resolves. */
  promote(): Promise<void>
}

/** A broker of a test's own. */
export type OwnRabbit = AsyncDisposable & {
  url: string
  port: number
  ctl(...args: string[]): Promise<string>
  /** A line for a shell on the machine of the node, as manuals print it. */
  shell(line: string): Promise<string>
  stop(): Promise<void>
  /**
   * The node writes down which quorum queues it has some seconds late, and one that is killed sooner never elects a
   * leader for them again. Stories are about nodes that have run for a while: this brings that file up to date.
   */
  settle(): Promise<void>
  /** `kill -9` of the node, once settled. */
  kill(): Promise<void>
  /** Its process stands still, or goes on. */
  freeze(isOn: boolean): void
  start(): Promise<void>
  /** The application inside the node: much faster than the node itself. */
  stopApp(): Promise<void>
  startApp(): Promise<void>
  /** As a fraction of memory, or in bytes; 0 raises the alarm at once, so publishers are blocked. */
  setMemoryWatermark(value: number | { bytes: number }): Promise<void>
  /** Free disk space below which publishers are blocked. */
  setDiskLimit(bytes: number): Promise<void>
  drop(): Promise<void>
}

/**
 * Starts a PostgreSQL server for this test alone: about 2 s. It is as durable as a real one, so a kill loses nothing.
 * @param folder an empty one that is there, such as a small volume; by default a new one
 */
export async function startPostgres(
  options: Readonly<Record<string, string>> = {},
  folder = mkdtempSync(join(tmpdir(), 'signalbox-postgres-')),
): Promise<OwnPostgres> {
  const bin = await postgresBinaries()
  if (!bin) throw new Error('fault tests need a PostgreSQL server installed (Debian: postgresql)')
  return await ownPostgres(bin, folder, await freePort(), options)
}

async function ownPostgres(
  bin: string,
  folder: string,
  port: number,
  options: Readonly<Record<string, string>>,
): Promise<OwnPostgres> {
  let server = await startLocalPostgres(bin, folder, port, options)
  const drop = async () => {
    await stopLocalPostgres(bin, folder, 'immediate')
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  return {
    url: server.url,
    port,
    stop: () => stopLocalPostgres(bin, folder),
    kill: () => killPostgres(server.pid, folder),
    start: async () => {
      server = await startLocalPostgres(bin, folder, port, options)
    },
    freeze: async (isOn) => {
      for (const pid of await processesOf(server.pid)) sendSignal(pid, isOn ? 'SIGSTOP' : 'SIGCONT')
    },
    standby: () => startStandby(bin, port),
    drop,
    [Symbol.asyncDispose]: drop,
  }
}

async function startStandby(bin: string, primaryPort: number): Promise<OwnStandby> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-standby-'))
  const user = await serviceUser('postgres')
  makePrivateFolder(folder, user)
  const from = ['-h', '127.0.0.1', '-p', String(primaryPort), '-U', 'postgres']
  const copy = [...from, '-D', join(folder, 'data'), '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  await mustRun([join(bin, 'pg_basebackup'), ...copy], { ...user, cwd: folder })
  const server = await ownPostgres(bin, folder, await freePort(), {})
  return {
    ...server,
    promote: async () => {
      await mustRun([join(bin, 'pg_ctl'), '-D', join(folder, 'data'), '-w', 'promote'], { ...user, cwd: folder })
    },
  }
}

/** A server and the processes it has made, itself first, so that it makes no more while it is frozen. */
async function processesOf(pid: number): Promise<number[]> {
  const { stdout } = await runCommand(['pgrep', '-P', String(pid)])
  return [pid, ...stdout.split('\n').filter(Boolean).map(Number)]
}

/** Several nodes that are one broker. */
export type OwnRabbitCluster = AsyncDisposable & {
  /** of all nodes, as AMQP_URL takes them */
  url: string
  nodes: readonly OwnRabbit[]
}

/**
 * Starts a cluster for this test alone.
 * @param settings lines of rabbitmq.conf
 * @param join makes an empty node one of the cluster of another
 */
export async function startRabbitCluster(
  size: number,
  settings: readonly string[] = [],
  join: (node: OwnRabbit, port: number) => Promise<void> = joinRabbit,
): Promise<OwnRabbitCluster> {
  const cookie = randomBytes(20).toString('hex')
  const resources = new AsyncDisposableStack()
  const nodes = await Promise.all(Array.from({ length: size }, () => startRabbit(settings, cookie)))
  for (const node of nodes) resources.use(node)
  const [first, ...others] = nodes
  for (const node of others) await join(node, first?.port ?? 0)
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Makes an empty node one of the cluster of another, whose cookie it has. */
export async function joinRabbit(node: OwnRabbit, port: number): Promise<void> {
  await node.stopApp()
  await node.ctl('join_cluster', rabbitNode(port))
  await node.startApp()
}

/**
 * Starts a broker for this test alone: some 5 s.
 * @param settings lines of rabbitmq.conf
 * @param folder an empty one that is there; by default a new one
 */
export async function startRabbit(
  settings: readonly string[] = [],
  cookie?: string,
  plugins: readonly string[] = [],
  folder = mkdtempSync(join(tmpdir(), 'signalbox-rabbitmq-')),
): Promise<OwnRabbit> {
  const bin = await rabbitBinaries()
  if (!bin) throw new Error('fault tests need RabbitMQ installed (Debian: rabbitmq-server)')
  const port = await freePort()
  let broker = await startLocalRabbit(bin, folder, port, { settings, cookie, plugins })
  const ctl = (...args: string[]) =>
    mustRun([...(broker.control.rabbitmqctl ?? []), ...args], { env: { ...process.env, ...broker.control.env } })
  const stop = async () => {
    const node = await identify(broker.pid)
    if (node) await stopProcess(node, 'SIGTERM', 30_000)
  }
  // Closed is that file after a write that failed: the node then has nothing to bring up to date any more.
  const settle = async () => void (await ctl('eval', 'catch dets:sync(ra_directory_reverse).'))
  const drop = async () => {
    await killNow(broker.pid)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  return {
    url: broker.url,
    port,
    ctl,
    shell: (line) =>
      mustRun(['sh', '-c', line], {
        env: { ...process.env, ...broker.control.env, PATH: `${bin}:${process.env.PATH}` },
      }),
    stop,
    settle,
    kill: async () => {
      await settle()
      await killNow(broker.pid)
    },
    freeze: (isOn) =>
      void process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), isOn ? 'SIGSTOP' : 'SIGCONT'),
    start: async () => {
      broker = await startLocalRabbit(bin, folder, port, { settings, cookie, plugins })
    },
    stopApp: async () => void (await ctl('stop_app')),
    startApp: async () => void (await ctl('start_app')),
    setMemoryWatermark: async (value) => {
      const args = typeof value === 'number' ? [String(value)] : ['absolute', String(value.bytes)]
      await ctl('set_vm_memory_high_watermark', ...args)
    },
    setDiskLimit: async (bytes) => void (await ctl('set_disk_free_limit', String(bytes))),
    drop,
    [Symbol.asyncDispose]: drop,
  }
}

async function killPostgres(pid: number, folder: string): Promise<void> {
  for (const each of await processesOf(pid)) await killNow(each)
  // The dead server's number may stay taken while its parent has not collected it, and would be believed alive.
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.lock'))) rmSync(join(folder, name))
  rmSync(join(folder, 'data/postmaster.pid'), { force: true })
}

async function killNow(pid: number): Promise<void> {
  const running = await identify(pid)
  if (running) await stopProcess(running, 'SIGKILL', 10_000)
}
