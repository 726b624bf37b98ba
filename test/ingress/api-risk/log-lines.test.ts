import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { openClient } from '../../support/platform-client.ts'
import { listeningPort, openProduct } from '../../support/product.ts'

/** Sends raw bytes, which an HTTP client would refuse. @returns the whole answer */
async function sendRaw(port: number, request: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(request, 'latin1')
  return await text(socket)
}

test('an unexpected error returns only its request id, which is also in the log', async (t) => {
  await using product = await openProduct()
  const ingress = product.spawn('ingress')
  const base = `http://127.0.0.1:${await listeningPort(ingress)}`
  // The issuer is this process, so it also issues the client's tokens.
  const client = await openClient(product, base)
  await product.db.raw('ALTER TABLE usage_units RENAME TO usage_units_away')
  const answer = await client.get('/v1/usage', { 'x-request-id': 'given-by-the-caller-1' })
  t.is(answer.status, 500)
  t.is(answer.json.code, 'INTERNAL')
  t.notRegex(answer.text, /usage_units|select|relation|\.ts|node_modules|knex|postgres/i)
  const { requestId } = answer.json
  t.is(answer.headers.get('x-request-id'), requestId)
  const line = await eventually('the error to be in the log', () =>
    ingress
      .output()
      .split('\n')
      .find((entry) => entry.includes(requestId) && entry.includes('usage_units')),
  )
  t.is(JSON.parse(line).requestId, requestId)
})

test('refused access is logged with its route, without the credential or the path', async (t) => {
  await using product = await openProduct()
  const ingress = product.spawn('ingress')
  const base = `http://127.0.0.1:${await listeningPort(ingress)}`
  const uuid = randomUUID()
  await fetch(`${base}/api/v3/checks/${uuid}`, { headers: { 'X-Api-Key': 'hcw_wrong-key' } })
  await fetch(`${base}/v1/usage`, { headers: { authorization: 'Bearer wrong-token' } })
  await ingress.stop()
  const lines = ingress
    .output()
    .split('\n')
    .filter((line) => line.includes('request.refused'))
  const refused = lines.map((line) => JSON.parse(line))
  t.like(refused, [
    { code: 'UNAUTHORIZED', method: 'GET', route: '/api/v3/checks/{uuid}' },
    { code: 'UNAUTHORIZED', method: 'GET', route: '/v1/usage' },
  ])
  t.notRegex(ingress.output(), new RegExp(`wrong-|${uuid}`))
})

test('hostile input leaves log lines that are one JSON object each', async (t) => {
  await using product = await openProduct()
  const ingress = product.spawn('ingress', [], { LOG_LEVEL: 'debug' })
  const port = await listeningPort(ingress)
  const client = await openClient(product, `http://127.0.0.1:${port}`)
  await product.db.raw('ALTER TABLE packs RENAME TO packs_away')
  const hostile = '\u001b[31mred %s %d %j {"level":60} \\n\\r\u2028 \x07'
  const marker = randomUUID()
  await client.post('/v1/po/risk-signals', { dealId: `${hostile}\r\n${marker}`, [`a\nb${hostile}`]: hostile })
  await client.get(`/v1/po/risk-signals/packs/${encodeURIComponent(`a\r\n{"msg":"forged"}${hostile}`)}`)
  await client.get(`/v1/po/risk-signals/packs/${marker}`, { 'user-agent': '%s%n {"a":1}', 'x-request-id': '%s\t"}' })
  const head = `Host: x\r\nAuthorization: Bearer ${client.token}\r\nConnection: close\r\n`
  await sendRaw(port, `GET /v1/po/risk-signals/packs/${marker} HTTP/1.1\r\n${head}User-Agent: \x9b31m%s\u00ff\r\n\r\n`)
  await sendRaw(port, `GET /v1/\x1b[2J HTTP/1.1\r\n${head}\r\n`)
  await ingress.stop()
  const lines = ingress.output().split('\n').filter(Boolean)
  // Both requests to the missing table are logged, so the following lines are those of requests.
  t.true(lines.filter((line) => line.includes('packs') && line.includes('requestId')).length >= 2)
  for (const line of lines) {
    const entry = JSON.parse(line)
    t.is(typeof entry.level, 'string', line)
    t.not(entry.msg, 'forged')
    // Escaped in JSON: a terminal that shows the log must not execute control sequences.
    t.notRegex(line, /\p{Cc}/u)
  }
})
