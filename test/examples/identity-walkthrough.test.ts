import { hash, X509Certificate } from 'node:crypto'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { findTexts } from '../ingress/api-risk/stored-texts.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { certificates } from '../support/identity-certificates.ts'
import { root } from '../support/imports.ts'
import { type ApiClient, openClient, type Reply } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { blocksRunBy, openPrograms, shell } from './walkthrough.ts'

/** The commands of docs/identity.md, in order. */
const blocks = blocksRunBy('docs/identity.md', import.meta.filename)
const VALUES = ['Quartz Zebra', '27AAACB1234C1ZF', 'customer-4711', 'requested by letter']

/** The product keeps no value of the first test, so it cannot be the one of the other pages. */
async function openVerifier(closing: AsyncDisposableStack, env: Record<string, string> = {}) {
  const product = closing.use(
    await openProduct({
      listener: 'http',
      hasRowSecurity: true,
      workers: ['presentation-verifier', 'identity-verifier', 'anchor'],
      env: { CHECKPOINT_DIR: temporaryFolder('checkpoints'), ...env },
    }),
  )
  return Object.assign(product, { bin: await openPrograms(product, closing) })
}

const resources = new AsyncDisposableStack()
test.after.always('close the verifier of wallets', () => resources.disposeAsync())
let opening: ReturnType<typeof openVerifier> | undefined
const sharedVerifier = () => (opening ??= openVerifier(resources))

async function openFolder(): Promise<string> {
  const folder = temporaryFolder('identity')
  for (const name of ['examples', 'node_modules', 'package.json', 'tsconfig.json'])
    await symlink(join(root, name), join(folder, name))
  return folder
}

/** Accepts the answer of a wallet while a slow verifier is still at work. */
async function verified(client: ApiClient, presentationId: string): Promise<Reply> {
  return await eventually('it to be verified', async () => {
    const reply = await client.get(`/v1/identity/presentations/${presentationId}`)
    return reply.json.state !== 'RECEIVED' && reply
  })
}

test.serial(
  'a newcomer walks through docs/identity.md: VERIFIED with issuer and names, values read once, erased, and the record verifies while no column holds a value',
  async (t) => {
    const product = await sharedVerifier()
    const client = await openClient(product, product.url)
    const folder = await openFolder()
    const script = blocks
      .map(({ text }) => text)
      .join('\n')
      .replace('http://localhost:8080', product.url)
      .replace('-H "x-idempotency-key', "-H 'Prefer: wait=25' -H \"x-idempotency-key")
    const { code, out } = await shell(script, { bin: product.bin, cwd: folder, TOKEN: client.token })
    t.is(code, 0, out)
    t.is(out.match(/^VERIFIED$/gm)?.length, 3, 'transition, passport and record, offline')
    t.regex(out, /ok {3}signature +http.* signed the credential/)
    t.regex(out, /ok {3}status +index \d+ was not revoked at/)
    t.regex(out, /VERIFIED: legalName, gstin by https:\/\/issuer\.sandbox\.example/)
    const text = (name: string) => readFile(join(folder, name), 'utf8')
    const json = async (name: string) => JSON.parse(await text(`${name}.json`))

    const page = await text('page.html')
    for (const part of ['<h1>VERIFIED</h1>', 'https://issuer.example', 'legal name, GSTIN'])
      t.true(page.includes(part), part)
    t.like(await json('presentation'), {
      state: 'VERIFIED',
      responseMode: 'direct_post.jwt',
      fields: ['legalName', 'gstin'],
      issuer: { iss: 'https://issuer.example', tier: 'DOCUMENT_SIGNED' },
    })
    t.like((await json('claims')).claims, { legalName: 'Quartz Zebra Private Limited', gstin: '27AAACB1234C1ZF' })
    const reads = await product.db('audit_log').where({ action: 'presentation.values_read' })
    t.is(reads.length, 1, 'each read of values is in the audit log, and there was one')
    t.like(await json('verification'), { tier: 'DOCUMENT_SIGNED', assurance: { level: 'SUBSTANTIAL' } })

    t.like(await json('receipt'), { eventType: 'identity.erased', counts: { values: 1, passports: 1 } })
    t.is((await json('gone')).status, 404)
    const { record } = await json('presentation')
    t.deepEqual((await json('after')).record, record, 'what is anchored stayed as it was')
    for (const value of VALUES) t.false((await text('after.json')).includes(value), value)
    t.deepEqual(await findTexts(product, VALUES), [])
  },
)

test.serial('the example wallet presents only requested claims, or explains its refusal', async (t) => {
  const product = await sharedVerifier()
  const { bin } = product
  const client = await openClient(product, product.url)
  const cwd = await openFolder()
  const wallet = async (args: string) =>
    await shell(`node --import tsx examples/wallet/main.ts ${args}`, { bin, cwd, TOKEN: client.token })
  const ask = async (more: object = {}) =>
    (await client.post('/v1/identity/presentations', { purpose: 'a test', template: 'company-basic', ...more })).json
  const empty = await wallet(`present '${(await ask()).authorizationRequest}'`)
  t.is(empty.code, 1)
  t.regex(
    empty.out,
    /nothing to present: no credential of https:\/\/credentials\.example\/company with legalName, gstin/,
  )

  const holderJwk = JSON.parse((await wallet('key')).out)
  const claims = { legalName: 'Quartz Zebra Private Limited', gstin: '29AAACR5678D1Z5', director: 'Asha Rao' }
  const vct = 'https://credentials.example/company'
  const issued = await client.post('/v1/sandbox/credentials', { holderJwk, vct, claims, scenario: 'REVOKED' })
  t.is((await wallet(`add '${issued.json.credential}'`)).code, 0)
  const refused = await wallet(`present '${(await ask()).authorizationRequest}'`)
  t.is(refused.code, 1, refused.out)
  t.regex(refused.out, /refused: invalid_presentation/)

  const good = await client.post('/v1/sandbox/credentials', { holderJwk, vct, claims })
  t.is((await wallet(`add '${good.json.credential}'`)).code, 0)
  const requested = await ask()
  const accepted = await wallet(`present '${requested.authorizationRequest}'`)
  t.is(accepted.code, 0, accepted.out)
  const seen = await verified(client, requested.presentationId)
  t.like(seen.json, { state: 'VERIFIED', discardedClaims: 0, fields: ['legalName', 'gstin'] })
  t.is((await wallet(`present '${requested.authorizationRequest}'`)).code, 1, 'it was spent')

  const forged = requested.authorizationRequest.replace(/did%3Ajwk%3A.{20}/, (part: string) =>
    part.split('').reverse().join(''),
  )
  t.is((await wallet(`present '${forged}'`)).code, 1, 'a request of another verifier is refused')
  const { code, out } = await shell('node --import tsx examples/wallet/main.ts', { cwd })
  t.is(code, 2, 'with the real tsx')
  t.regex(out, /^A small wallet/)
})

test.serial('the example wallet knows a verifier by its certificate: by the host in it, or by its hash', async (t) => {
  const { localhost: cert, localhostKey, verifier, verifierKey, other } = certificates
  const port = await freePort()
  const byHost = {
    PORT: String(port),
    PUBLIC_URL: `http://localhost:${port}`,
    OID4VP_CERT: cert,
    OID4VP_KEY: localhostKey,
  }
  const raw = new X509Certificate(verifier).raw
  const kinds: [string, Record<string, string>][] = [
    ['x509_san_dns:localhost', byHost],
    [`x509_hash:${hash('sha256', raw, 'base64url')}`, { OID4VP_CERT: verifier, OID4VP_KEY: verifierKey }],
  ]
  const cwd = await openFolder()
  for (const [clientId, env] of kinds) {
    await using closing = new AsyncDisposableStack()
    const product = await openVerifier(closing, env)
    const { bin } = product
    const client = await openClient(product, env === byHost ? `http://127.0.0.1:${port}` : product.url)
    const wallet = async (args: string) =>
      await shell(`node --import tsx examples/wallet/main.ts ${args}`, { bin, cwd })
    const holderJwk = JSON.parse((await wallet('key')).out)
    const claims = { legalName: 'Quartz Zebra Private Limited', gstin: '29AAACR5678D1Z5' }
    const vct = 'https://credentials.example/company'
    const issued = await client.post('/v1/sandbox/credentials', { holderJwk, vct, claims })
    await wallet(`add '${issued.json.credential}'`)
    const body = { purpose: 'a test', template: 'company-basic', responseMode: 'direct_post.jwt' }
    const requested = (await client.post('/v1/identity/presentations', body)).json
    const link = new URL(requested.authorizationRequest)
    t.is(link.searchParams.get('client_id'), clientId)
    const name = clientId.replace(/:.*/, '')
    link.searchParams.set('client_id', `${name}:${name === 'x509_hash' ? 'A'.repeat(43) : 'verify.example'}`)
    const forged = await wallet(`present '${link.href}'`)
    t.is(forged.code, 1, forged.out)
    t.regex(forged.out, /the signer of the request does not match its client_id/)
    const accepted = await wallet(`present '${requested.authorizationRequest}'`)
    t.is(accepted.code, 0, accepted.out)
    const seen = await verified(client, requested.presentationId)
    t.like(seen.json, { state: 'VERIFIED', fields: ['legalName', 'gstin'] })
  }
  const wrong = openProduct({ listener: 'http', workers: [], env: { OID4VP_CERT: other, OID4VP_KEY: verifierKey } })
  await t.throwsAsync(wrong, { message: /OID4VP_KEY does not match OID4VP_CERT/ })
})
