import { connect, createServer, type Server, type Socket } from 'node:net'

/** Network faults of a connection. Changes apply to later bytes. */
export type TcpProxy = AsyncDisposable & {
  port: number
  /** The same URL, through the proxy. */
  through(url: string): string
  /** Connects new clients to this port; open connections stay. */
  redirect(port: number): void
  /** Delays all bytes by this time in both directions. */
  delay(ms: number): void
  /** Drops bytes silently in both directions. Connections stay open, and new ones are accepted. */
  blackhole(isOn: boolean): void
  /** Holds all bytes in both directions until it is turned off, like a stalled server. */
  hold(isOn: boolean): void
  /** Drops only the bytes of the server: requests arrive, and the client gets no answer. */
  deafen(isOn: boolean): void
  /** Resets every open connection; `refusing` also refuses new ones until `restore`. */
  cut(options?: { refusing?: boolean }): void
  /** Resets each connection after it has sent this many further bytes to the server. */
  resetAfter(bytes: number): void
  /** Ends all faults. */
  restore(): void
  /** Number of open connections. */
  connections(): number
  close(): Promise<void>
}

/** Starts a TCP proxy on loopback in front of a real server, with network faults on demand. */
export async function startTcpProxy(target: { host?: string; port: number }): Promise<TcpProxy> {
  let targetPort = target.port
  let delayMs = 0
  let isBlackhole = false
  let isHolding = false
  let isDeaf = false
  let isRefusing = false
  let budget = Number.POSITIVE_INFINITY
  const pairs = new Set<{ client: Socket; upstream: Socket; remaining: number }>()

  const server = createServer((client) => {
    if (isRefusing) return void client.resetAndDestroy()
    const upstream = connect(targetPort, target.host ?? '127.0.0.1')
    const pair = { client, upstream, remaining: budget }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    const pass = (from: Socket, to: Socket, isTowardsServer: boolean) => {
      from.on('error', end)
      from.on('close', () => {
        if (!isBlackhole) end() // behind a dead link the close of the other side is not received
      })
      const late = inOrder()
      if (isHolding) from.pause()
      from.on('data', (chunk) => {
        if (isBlackhole || (isDeaf && !isTowardsServer)) return
        if (isTowardsServer) pair.remaining -= chunk.length
        if (pair.remaining < 0) return reset(pair)
        late(delayMs, () => forward(from, to, chunk, () => isHolding))
      })
    }
    pass(client, upstream, true)
    pass(upstream, client, false)
  })
  const hold = (isOn: boolean) => {
    isHolding = isOn
    for (const { client, upstream } of pairs) {
      for (const socket of [client, upstream]) {
        if (isOn) socket.pause()
        else socket.resume()
      }
    }
  }
  const port = await listen(server)

  const close = async () => {
    for (const pair of pairs) reset(pair)
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return {
    port,
    through: (url) => {
      const other = new URL(url)
      other.host = `127.0.0.1:${port}`
      return other.href
    },
    redirect: (to) => {
      targetPort = to
    },
    delay: (ms) => {
      delayMs = ms
    },
    blackhole: (isOn) => {
      isBlackhole = isOn
    },
    hold,
    deafen: (isOn) => {
      isDeaf = isOn
    },
    cut: ({ refusing = false } = {}) => {
      isRefusing = refusing
      for (const pair of pairs) reset(pair)
    },
    resetAfter: (bytes) => {
      budget = bytes
      for (const pair of pairs) pair.remaining = bytes
    },
    restore: () => {
      delayMs = 0
      isBlackhole = false
      isDeaf = false
      isRefusing = false
      hold(false)
      budget = Number.POSITIVE_INFINITY
      for (const pair of pairs) pair.remaining = budget
    },
    connections: () => pairs.size,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Delays actions and keeps their order, also if the delay becomes shorter: a slow connection must not
 * change the order of its bytes.
 */
function inOrder(): (delayMs: number, run: () => void) => void {
  const waiting: { at: number; run: () => void }[] = []
  const next = () => {
    const [first] = waiting
    if (first) setTimeout(runFirst, Math.max(0, first.at - performance.now()))
  }
  const runFirst = () => {
    waiting.shift()?.run()
    next()
  }
  return (delayMs, run) => {
    if (delayMs === 0 && waiting.length === 0) return run()
    waiting.push({ at: performance.now() + delayMs, run })
    if (waiting.length === 1) next()
  }
}

function reset({ client, upstream }: { client: Socket; upstream: Socket }): void {
  client.resetAndDestroy()
  upstream.resetAndDestroy()
}

/** @returns the port */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return address.port
}

function forward(from: Socket, to: Socket, chunk: Buffer, isHolding: () => boolean): void {
  if (to.destroyed) return
  // A slow reader must slow the writer down through the proxy too.
  if (!to.write(chunk)) {
    from.pause()
    to.once('drain', () => {
      if (!isHolding()) from.resume()
    })
  }
}
