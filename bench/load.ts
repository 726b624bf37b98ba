import { connect, type Socket } from 'node:net'

export interface Load {
  /** connections are distributed over these */
  ports: readonly number[]
  connections: number
  /** the run ends after this many seconds or requests, whichever is first */
  seconds: number
  requests?: number
  request: (n: number) => string
  /** opens a new connection for every request */
  reconnect?: boolean
}

export interface LoadResult {
  answered: number
  refused: number
  /** connections that ended without a response */
  broken: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  seconds: number
}

/**
 * Runs a closed loop over loopback: each connection sends its next request after the complete response, limited in time
 * and number. Supports only responses with a Content-Length.
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = []
  const end = performance.now() + load.seconds * 1000
  const limit = load.requests ?? Number.POSITIVE_INFINITY
  let sent = 0
  let refused = 0
  let broken = 0
  const started = performance.now()

  const mayContinue = () => sent < limit && performance.now() < end

  function drive(port: number, done: () => void): void {
    let socket: Socket
    let buffered = ''
    let sentAt = 0
    const next = () => {
      if (!mayContinue()) {
        socket.destroy()
        done()
        return
      }
      if (load.reconnect && sentAt !== 0) {
        socket.destroy()
        open()
        return
      }
      send()
    }
    const send = () => {
      buffered = ''
      sentAt = performance.now()
      socket.write(load.request(sent++))
    }
    const open = () => {
      sentAt = 0
      const fresh = connect({ port, host: '127.0.0.1', noDelay: true })
      socket = fresh
      fresh.setEncoding('latin1')
      if (load.reconnect) {
        const openedAt = performance.now()
        fresh.once('connect', () => {
          send()
          sentAt = openedAt
        })
      } else {
        fresh.once('connect', next)
      }
      fresh.on('data', (chunk: string) => {
        buffered = buffered === '' ? chunk : buffered + chunk
        const isOk = completeAnswer(buffered)
        if (isOk === null) return
        latencies.push(performance.now() - sentAt)
        if (!isOk) refused += 1
        next()
      })
      fresh.once('error', () => {
        broken += 1
        fresh.destroy()
        if (mayContinue()) open()
        else done()
      })
    }
    open()
  }

  const drivers = Array.from({ length: load.connections }, (_, index) => {
    const port = load.ports[index % load.ports.length] ?? 0
    return new Promise<void>((resolve) => drive(port, resolve))
  })
  await Promise.all(drivers)
  const seconds = (performance.now() - started) / 1000
  latencies.sort((a, b) => a - b)
  return {
    answered: latencies.length,
    refused,
    broken,
    perSecond: (latencies.length - refused) / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    seconds,
  }
}

const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i

/** @returns null while incomplete, then true for a 2xx status */
function completeAnswer(text: string): boolean | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const length = Number(CONTENT_LENGTH.exec(text)?.[1] ?? 0)
  return text.length < headEnd + 4 + length ? null : text.startsWith('2', 9)
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export function get(path: string, headers = '', keepAlive = true): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\n${keepAlive ? '' : 'Connection: close\r\n'}${headers}\r\n`
}

/** Returns the median, because single runs are noisy. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
