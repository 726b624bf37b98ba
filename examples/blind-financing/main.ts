import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ristretto255_oprf } from '@noble/curves/ed25519.js'
import { inputsOf, type Receivable } from './inputs.ts'

const HELP = `Checks if a receivable is registered elsewhere, or registers it. The service sees only fingerprints.

  CLIENT_ID=… CLIENT_SECRET=… node --import tsx examples/blind-financing/main.ts --base URL --receivable FILE
                                                                                 [--known FILE] [--register | --print]

With --print it only writes the fingerprints, for the console's page "Check blind".
Exit status: 0 answered, 1 refused or not to be trusted, 2 usage.
`
const { voprf } = ristretto255_oprf

interface Epoch {
  epoch: number
  publicKey: string
  record: { epoch: number; publicKey: string; eventType: string }
}

interface Session {
  base: string
  token: string
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      receivable: { type: 'string' },
      known: { type: 'string' },
      register: { type: 'boolean' },
      print: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const { CLIENT_ID: id, CLIENT_SECRET: secret } = process.env
  const { base, receivable: file } = values
  if (values.help || base === undefined || file === undefined || id === undefined || secret === undefined) {
    console.log(HELP)
    return values.help ? 0 : 2
  }
  // The file is trusted; the service checks only the fingerprints.
  const receivable = JSON.parse(readFileSync(file, 'utf8')) as Receivable
  const session = { base, token: await tokenOf(base, id, secret) }
  const { epochs } = await callApi<{ epochs: Epoch[] }>(session, '/v1/first-financing/oprf/key')
  trustKeys(epochs, values.known)
  const fingerprints = []
  for (const epoch of epochs) fingerprints.push(await fingerprint(session, epoch, inputsOf(receivable)))
  if (values.print) {
    console.log(JSON.stringify(fingerprints))
    return 0
  }
  const to = `/v1/first-financing/${values.register ? 'registrations' : 'checks'}`
  const answer = await callApi<{ status?: string; state?: string; registrationId?: string }>(session, to, {
    fingerprints,
  })
  console.log(values.register ? `registration: ${answer.registrationId} ${answer.state}` : `status: ${answer.status}`)
  return 0
}

/** Refuses a key that differs from its anchored object, and a second key of an epoch. */
function trustKeys(epochs: readonly Epoch[], file: string | undefined): void {
  const known: Record<string, string> =
    file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  for (const { epoch, publicKey, record } of epochs) {
    if (record.eventType !== 'first_financing.epoch' || record.epoch !== epoch || record.publicKey !== publicKey)
      throw new Error(`the anchored object of epoch ${epoch} names another key`)
    if ((known[epoch] ?? publicKey) !== publicKey) throw new Error(`a second key is shown for epoch ${epoch}`)
    known[epoch] = publicKey
  }
  if (file !== undefined) writeFileSync(file, JSON.stringify(known, null, 2))
}

/** Blinds the inputs, requests their evaluation, verifies the proof and finalises: 32 bytes each. */
async function fingerprint(session: Session, { epoch, publicKey }: Epoch, inputs: readonly string[]) {
  const hidden = inputs.map((text) => {
    const input = new TextEncoder().encode(text)
    return { input, ...voprf.blind(input) }
  })
  const { evaluated, proof } = await callApi<{ evaluated: string[]; proof: string }>(
    session,
    '/v1/first-financing/oprf/evaluate',
    { epoch, blinded: hidden.map(({ blinded }) => hexOf(blinded)) },
  )
  const items = hidden.map((item, index) => ({ ...item, evaluated: bytesOf(evaluated[index] ?? '') }))
  // Throws unless all were evaluated with the key of the epoch.
  const outputs = voprf.finalizeBatch(items, bytesOf(publicKey), bytesOf(proof))
  const [rf1, rf2, rf3] = outputs.map((output) => hexOf(output.subarray(0, 32)))
  return { epoch, rf1, rf2, rf3 }
}

async function tokenOf(base: string, id: string, secret: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
  const response = await fetch(new URL('/v1/oauth/token', base), { method: 'POST', body: new URLSearchParams(form) })
  if (!response.ok) throw new Error(`no token: ${response.status}`)
  const { access_token: token } = (await response.json()) as { access_token: string }
  return token
}

/** Sends a GET or, with a body, a POST. @throws Error with the response */
async function callApi<T>({ base, token }: Session, path: string, body?: object): Promise<T> {
  const response = await fetch(new URL(path, base), {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${token}`,
      prefer: 'wait=25', // the maximum wait for queued work
      ...(body ? { 'content-type': 'application/json', 'x-idempotency-key': randomUUID() } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  if (!response.ok || response.status === 202) throw new Error(`${path}: ${response.status} ${text}`)
  return JSON.parse(text) as T
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode =
    error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS') ? 2 : 1
}
