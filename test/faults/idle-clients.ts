import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { argv, exit } from 'node:process'

// usage (by fork): idle-clients.ts PORT PATH COUNT
// Opens connections from many addresses of the loopback, requests PATH once on each, sends 'held' to its parent and
// keeps them until the parent disconnects. A separate process, so that the parent's memory and open files are those
// of the server alone.

const [port, path, count] = [Number(argv[2]), String(argv[3]), Number(argv[4])]
const AT_ONCE = 100

async function open(index: number): Promise<Socket> {
  const localAddress = `127.0.${1 + Math.floor(index / 200)}.${1 + (index % 200)}`
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  await once(socket, 'connect')
  // A used connection needs more memory than an unused one, and has a longer idle timeout.
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await once(socket, 'data')
  return socket
}

const sockets: Socket[] = []
while (sockets.length < count) {
  const at = sockets.length
  sockets.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => open(at + n)))))
}
process.send?.('held')
await once(process, 'message')
exit()
