import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import test from 'ava'
import { Webhook } from 'standardwebhooks'
import { formatSecret, type MessageToSign, secretKeyOf, signatureHeaders } from '#shared/webhooks/signature.ts'
import { root } from '../support/imports.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = join(root, 'examples/webhook-verifiers')
const secret = formatSecret(randomBytes(32))
const oldSecret = formatSecret(randomBytes(32))
const keys = { current: secretKeyOf(secret), previous: secretKeyOf(oldSecret) }
const now = () => Math.floor(Date.now() / 1000)
const body = '{"event":"risk_signals.pack_ready","note":"größer\\n"}'

type Verifier = (secret: string, headers: Record<string, string>, body: string) => Promise<boolean>

async function run(command: readonly string[], env: Record<string, string>, input: string): Promise<number> {
  const [file = '', ...args] = command
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  // A verifier that refuses by the headers alone does not read the body.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? -1))
  })
  if (code > 1) throw new Error(`${command.join(' ')}: ${errors}`)
  return code
}

const sample =
  (command: readonly string[]): Verifier =>
  async (by, headers, text) => {
    const env = {
      WEBHOOK_SECRET: by,
      WEBHOOK_ID: headers['webhook-id'] ?? '',
      WEBHOOK_TIMESTAMP: headers['webhook-timestamp'] ?? '',
      WEBHOOK_SIGNATURE: headers['webhook-signature'] ?? '',
    }
    return (await run(command, env, text)) === 0
  }

/** Returns the path of the interpreter: `python3` may be a wrapper script that takes longer than the sample. */
function python(): string {
  return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim()
}

async function goProgram(): Promise<readonly string[]> {
  const program = join(temporaryFolder('webhook-verifier'), 'verify')
  if ((await run(['go', 'build', '-o', program, join(folder, 'go/verify.go')], {}, '')) !== 0)
    throw new Error('go build')
  return [program]
}

/** Secrets that an operator may have by mistake, and that no signature may pass. */
const brokenSecrets = [
  ...['', 'undefined', 'null', ' ', 'whsec_', 'whsec_=', 'whsec_====', 'whsec_ ', 'whsec_undefined'],
  formatSecret(randomBytes(23)),
  secret.slice('whsec_'.length),
  secret.replace(/=+$/, ''),
  `${secret} `,
  `${secret}\n`,
  `whsec_${'!'.repeat(44)}`,
  `whsec_${'A'.repeat(20)}\n${'A'.repeat(24)}`,
  `whsec_${'-_'.repeat(22)}`,
]

/** Signs with every key that a verifier could take from a broken secret. */
function forgedSignatures(by: string, id: string, timestamp: number): string {
  const text = by.replace(/^whsec_/, '')
  const guessed = [Buffer.alloc(0), Buffer.from(text), Buffer.from(by), Buffer.from(text, 'base64')]
  return guessed
    .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ')
}

const verifiers: Record<string, () => Promise<Verifier>> = {
  'the sample for Node': async () => sample([process.execPath, join(folder, 'node/verify.mjs')]),
  'the sample for Python': async () => sample([python(), join(folder, 'python/verify.py')]),
  'the sample for Go': async () => sample(await goProgram()),
  'the sample for the shell': async () => sample(['sh', join(folder, 'shell/verify.sh')]),
  'the library standardwebhooks': async () => async (by, headers, text) => {
    try {
      new Webhook(by).verify(text, headers)
      return true
    } catch {
      return false
    }
  },
}

for (const [name, make] of Object.entries(verifiers)) {
  test(`${name} accepts what we sign, and refuses everything that was changed`, async (t) => {
    if (name.endsWith('Go') && spawnSync('go', ['version']).status !== 0) {
      t.log('NOT CHECKED: go is not on this machine')
      t.pass()
      return
    }
    const isOurs = await make()
    const message: MessageToSign = { id: 'msg_1', timestamp: now(), body }
    const headers = signatureHeaders({ ...keys, previous: null }, message)
    t.true(await isOurs(secret, headers, body), 'as sent')
    const rotating = signatureHeaders(keys, message)
    t.true(await isOurs(secret, rotating, body), 'the new secret, during a rotation')
    t.true(await isOurs(oldSecret, rotating, body), 'the old secret, during a rotation')
    t.false(await isOurs(oldSecret, headers, body), 'the old secret, after it')
    t.false(await isOurs(secret, headers, body.replace('ready', 'reads')), 'a changed byte')
    t.false(await isOurs(secret, { ...headers, 'webhook-id': 'msg_2' }, body), 'another id')
    t.false(
      await isOurs(secret, { ...headers, 'webhook-timestamp': String(message.timestamp - 1) }, body),
      'another time',
    )
    for (const offset of [-360, 360]) {
      const moved = { ...message, timestamp: now() + offset }
      t.false(await isOurs(secret, signatureHeaders(keys, moved), body), `${offset} seconds from now`)
    }
    t.false(await isOurs(secret, { ...headers, 'webhook-signature': 'v1,' }, body), 'an empty signature')
    t.false(await isOurs(secret, { ...headers, 'webhook-timestamp': '' }, body), 'no time')
    if (name.startsWith('the library')) return
    for (const broken of brokenSecrets) {
      const signature = forgedSignatures(broken, message.id, message.timestamp)
      t.false(await isOurs(broken, { ...headers, 'webhook-signature': signature }, body), JSON.stringify(broken))
    }
  })
}
