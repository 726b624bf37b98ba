import { createHmac } from 'node:crypto'
import http from 'node:http'
import got from 'got'

// Baseline of deliveries: a loop that only signs and posts with got.
const [url = '', count = '0', concurrency = '64', body = '{}'] = process.argv.slice(2)
const agent = { http: new http.Agent({ keepAlive: true, maxSockets: Number(concurrency) }) }
const client = got.extend({ agent, retry: { limit: 0 }, throwHttpErrors: false, timeout: { request: 15_000 } })
const key = Buffer.alloc(32, 1)
let left = Number(count)

async function lane(): Promise<void> {
  while (left-- > 0) {
    const timestamp = Math.floor(Date.now() / 1000)
    const sign = (text: string) => createHmac('sha256', key).update(text)
    await client.post(url, {
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'msg',
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${sign(`msg.${timestamp}.${body}`).digest('base64')}`,
        'x-signature': sign(body).digest('hex'),
      },
    })
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, lane))
