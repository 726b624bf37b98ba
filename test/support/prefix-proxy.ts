import { once } from 'node:events'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A reverse proxy that forwards only addresses below one path. */
export interface PrefixProxy extends AsyncDisposable {
  /** scheme, host and port */
  origin: string
  basePath: string
  /** public address of the service */
  url: string
  /** port of the service */
  target: number
  /** removes the path before it forwards a request */
  isStripping: boolean
  /** requested addresses outside the path, which were not forwarded */
  outside: string[]
}

/** @param host as it is in addresses; passkeys need a name */
export async function openPrefixProxy(basePath: string, host = '127.0.0.1'): Promise<PrefixProxy> {
  const server = createServer((request, response) => answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // listening on TCP always yields an AddressInfo
  const { port } = server.address() as AddressInfo
  const origin = `http://${host}:${port}`
  const proxy: PrefixProxy = {
    origin,
    basePath,
    url: origin + basePath,
    target: 0,
    isStripping: false,
    outside: [],
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
  return proxy

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', method, headers } = request
    const isBelow = url.startsWith(`${basePath}/`) || (!proxy.isStripping && url === basePath)
    // The rule of docs/operations.md for metadata, which clients look up at the root of the host.
    const isMetadata = url.startsWith('/.well-known/') && url.includes(basePath)
    if (!isBelow && !isMetadata) {
      proxy.outside.push(`${method} ${url}`)
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not of this service')
      return
    }
    const path = isBelow && proxy.isStripping ? url.slice(basePath.length) : url
    const passed = forward({ host: '127.0.0.1', port: proxy.target, method, path, headers }, (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers)
      incoming.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  }
}
