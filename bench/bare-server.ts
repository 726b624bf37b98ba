import { createServer } from 'node:http'

// The limit that the ping path is measured against: a server that does nothing but answer OK.
const server = createServer((_request, response) => {
  response.writeHead(200, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '2'])
  response.end('OK')
})
server.listen(Number(process.argv[2]), '127.0.0.1', 2048)
process.once('SIGTERM', () => process.exit(0))
