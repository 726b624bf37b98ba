import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { rf1Input, rf2Input, rf3Input } from '#shared/risk/first-financing/fingerprint-input.ts'
import { identityOf, ReceivableFields } from '#shared/risk/first-financing/receivable.ts'
import { inputsOf, type Receivable } from '../../examples/blind-financing/inputs.ts'
import { blindFingerprints, check, receivable, register } from '../ingress/api-risk/financing-support.ts'
import { type ApiClient, openClient } from '../support/platform-client.ts'
import { compileCache, readTypescript } from '../support/typescript-process.ts'
import { sharedProduct } from './walkthrough.ts'

const folder = mkdtempSync(join(tmpdir(), 'blind-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

test('its inputs equal those that the service derives from the same fields', (t) => {
  for (const change of [{}, { documentNumber: '10/05' }, { documentNumber: 'inv-007', documentDate: '2025-03-31' }]) {
    const fields = receivable(change) as Receivable
    const identity = identityOf(ReceivableFields.parse(fields))
    t.deepEqual(inputsOf(fields), [rf1Input(identity), rf2Input(identity), rf3Input(identity)])
  }
})

test('two organisations check a receivable blind, learn only that a duplicate exists, and trust no other key or proof', async (t) => {
  const product = await sharedProduct()
  const { url: base } = product
  const [one, other] = [await openClient(product, base), await openClient(product, base)]
  const invoice = receivable()
  const file = join(folder, 'receivable.json')
  const known = join(folder, 'known.json')
  writeFileSync(file, JSON.stringify(invoice))
  const by = (client: ApiClient, to: string, ...more: string[]) =>
    run(['--base', to, '--receivable', file, '--known', known, ...more], client)

  t.deepEqual(await by(one, base), { code: 0, out: 'status: CLEAN\n' })
  t.regex((await by(one, base, '--register')).out, /^registration: [0-9a-f-]{36} REGISTERED\n$/)
  t.deepEqual(await by(other, base), { code: 0, out: 'status: DUPLICATE_REGISTERED\n' })
  t.is((await check(other, invoice)).json.status, 'DUPLICATE_REGISTERED', 'a check by fields meets it')
  t.is((await register(other, invoice)).status, 409)

  const printed = JSON.parse((await by(other, base, '--print')).out)
  t.deepEqual(printed, await blindFingerprints(other, invoice), 'for the page of the console')
  const flipped = await proxy(base, '/v1/first-financing/oprf/evaluate', (body) => {
    const proof = Buffer.from(body.proof, 'hex')
    proof.writeUInt8(proof.readUInt8(0) ^ 1, 0)
    return { ...body, proof: proof.toString('hex') }
  })
  const untrue = await by(other, flipped.url)
  t.is(untrue.code, 1)
  t.notRegex(untrue.out, /status:/)
  flipped.close()
  const second = await proxy(base, '/v1/first-financing/oprf/key', (body) => {
    const publicKey = body.epochs[0].publicKey.replace(/^../, (byte: string) => (byte === 'aa' ? 'ac' : 'aa'))
    return { ...body, epochs: [{ ...body.epochs[0], publicKey, record: { ...body.epochs[0].record, publicKey } }] }
  })
  const other2 = await by(other, second.url)
  t.is(other2.code, 1)
  t.regex(other2.out, /a second key is shown for epoch 2/)
  second.close()
  t.deepEqual(Object.keys(JSON.parse(readFileSync(known, 'utf8'))), ['2'])
  t.is((await run([], one, '--import=tsx')).code, 2)
})

/** The service with one answer changed on the way. */
// biome-ignore lint/suspicious/noExplicitAny: the test changes arbitrary members
async function proxy(base: string, path: string, change: (body: any) => object) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
    const answer = await fetch(`${base}${request.url}`, {
      method: request.method ?? 'GET',
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    })
    const text = await answer.text()
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(request.url === path ? JSON.stringify(change(JSON.parse(text))) : text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

/** @param loader the option that makes Node read TypeScript; users pass `--import=tsx`, which takes twice as long */
async function run(args: string[], { credentials }: ApiClient, loader = readTypescript) {
  const child = spawn(process.execPath, [loader, 'examples/blind-financing/main.ts', ...args], {
    env: { ...compileCache(), CLIENT_ID: credentials.clientId, CLIENT_SECRET: credentials.clientSecret },
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out }
}
