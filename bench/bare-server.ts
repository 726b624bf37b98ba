import { createServer } from 'node:http'

// Baseline of the ping path: a server that only answers OK.
const server = createServer((_request, response) => {
  response.writeHead(200, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '2'])
  response.end('OK')
})
server.listen(Number(process.argv[2]), '127.0.0.1', 2048)
process.once('SIGTERM', () => process.exit(0))
