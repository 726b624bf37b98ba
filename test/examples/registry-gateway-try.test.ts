import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { freePort } from '../support/free-port.ts'
import { root } from '../support/imports.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { compileCache, readTypescript } from '../support/typescript-process.ts'
import { bytesOf, sampleEnv, sampleOf } from './registry-gateway-samples.ts'

const GSTIN = '29AAACR5678D1Z5'

interface Outcome {
  exit: number
  out: string
  err: string
}

/** Runs a program of the example as an operator does. */
async function run(program: 'main' | 'check', args: readonly string[], env: Record<string, string>): Promise<Outcome> {
  const file = join(root, `examples/registry-gateway/${program}.ts`)
  const options = { cwd: temporaryFolder('gateway-try'), env: { PATH: process.env.PATH, ...compileCache(), ...env } }
  return await new Promise((resolve) => {
    execFile(process.execPath, [readTypescript, file, ...args], options, (error, out, err) => {
      resolve({ exit: error ? Number(error.code) : 0, out, err })
    })
  })
}

/** Serves the search of a registration with changed members. */
async function provider(members: object) {
  const { exchanges } = sampleOf('sandbox', 'good')
  const body = JSON.parse(bytesOf(exchanges[1]?.response ?? { status: 200, headers: {} }).toString())
  Object.assign(body.data.data, members)
  const server = createServer((request, response) => {
    const answer = request.url === '/authenticate' ? { access_token: 'synthetic-token' } : body
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server on a TCP port has an address object.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, env: { ...sampleEnv, SANDBOX_URL: url }, [Symbol.asyncDispose]: async () => void server.close() }
}

test('a trial names the member of the provider that differs, without its value', async (t) => {
  await using changed = await provider({ rgdt: 'the day before' })
  const { exit, out, err } = await run('main', ['try', 'gstin', GSTIN], changed.env)
  t.is(exit, 3, err)
  t.regex(out, /^differs {2}data\.rgdt\nanswer {2}422 {2}UNPARSEABLE$/m)
  t.false(out.includes('the day before'))
})

test('a trial lists members that the mapping does not know, and shows bytes on request only', async (t) => {
  await using younger = await provider({ riskScore: 'a-new-member' })
  const plain = await run('main', ['try', 'gstin', GSTIN], younger.env)
  t.is(plain.exit, 3)
  t.regex(plain.out, /members that the mapping does not know: riskScore/)
  t.false(plain.out.includes('a-new-member'))
  t.false(plain.out.includes(GSTIN))
  t.true((await run('main', ['try', 'gstin', GSTIN, '--raw'], younger.env)).out.includes('a-new-member'))
})

test('a trial that needs the running gateway explains how to start it', async (t) => {
  const env = { ...sampleEnv, GATEWAY_PORT: String(await freePort()) }
  const outcome = await run('main', ['try', 'deposits', 'AAACR5678D', '--consent', 'gwc_A'], env)
  t.is(outcome.exit, 2)
  t.regex(outcome.err, /does not answer; start it with "serve"/)
  const unset = await run('main', ['try', 'gstin', GSTIN], { SANDBOX_API_KEY: 'key_live_secret' })
  t.is(unset.exit, 2)
  t.regex(unset.err, /GATEWAY_TOKEN is not set/)
  t.false(unset.err.includes('key_live_secret'))
})

test('the check exits with 1 for a broken gateway and with 2 for wrong options', async (t) => {
  await using broken = await provider({})
  const args = ['--url', broken.url, '--token', 't', '--only', '/taxpayers/{gstin}', '--max-calls', '3']
  const failed = await run('check', args, {})
  t.is(failed.exit, 1, failed.err)
  t.regex(failed.out, /^at most 3 requests; a provider may charge 0 of them$/m)
  t.regex(failed.out, /G01 token +FAIL/)
  t.is((await run('check', ['--url', broken.url], {})).exit, 2)
})
