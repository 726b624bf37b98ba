import { randomBytes } from 'node:crypto'
import { freePort } from '../support/free-port.ts'
import { certificateFor, type OwnRabbit, once, startRabbit } from '../support/own-servers.ts'

/** The broker that all fault tests of one process share, each with its own virtual host. */
export type SharedRabbit = OwnRabbit & {
  /** a listener for TLS, and the file of its certificate */
  tls: { port: number; cert: string }
  /** Creates an empty virtual host. Disposing deletes it. */
  vhost(): Promise<AsyncDisposable & { url: string; name: string }>
}

const DEFAULT_WATERMARK = 0.4
const DEFAULT_DISK_LIMIT = 20_000_000

const shared = { resources: new AsyncDisposableStack(), start: once(startShared) }

/** Returns the shared broker, running and without alarms. A file that calls it registers `dropSharedRabbit`. */
export async function sharedRabbit(): Promise<SharedRabbit> {
  const broker = await shared.start()
  await broker.startApp()
  await broker.setMemoryWatermark(DEFAULT_WATERMARK)
  await broker.setDiskLimit(DEFAULT_DISK_LIMIT)
  return broker
}

/** Ends the shared broker after the last test: `test.after.always(dropSharedRabbit)`. */
export async function dropSharedRabbit(): Promise<void> {
  await shared.resources.disposeAsync()
}

async function startShared(): Promise<SharedRabbit> {
  const { resources } = shared
  const { cert, key } = resources.use(await certificateFor('rabbitmq'))
  const port = await freePort()
  const tls = [`listeners.ssl.1 = 127.0.0.1:${port}`, `ssl_options.certfile = ${cert}`, `ssl_options.keyfile = ${key}`]
  const settings = [...tls, `ssl_options.cacertfile = ${cert}`, `disk_free_limit.absolute = ${DEFAULT_DISK_LIMIT}`]
  const broker = resources.use(await startRabbit(settings))
  return {
    ...broker,
    tls: { port, cert },
    async vhost() {
      const name = `test-${randomBytes(6).toString('hex')}`
      const [host, user, all] = [`<<"${name}">>`, '<<"guest">>', '<<".*">>']
      await broker.evaluate(`rabbit_vhost:add(${host}, ${user})`)
      await broker.evaluate(
        `rabbit_auth_backend_internal:set_permissions(${user}, ${host}, ${all}, ${all}, ${all}, ${user})`,
      )
      return {
        url: `${broker.url}/${name}`,
        name,
        [Symbol.asyncDispose]: async () => void (await broker.evaluate(`rabbit_vhost:delete(${host}, ${user})`)),
      }
    },
  }
}
