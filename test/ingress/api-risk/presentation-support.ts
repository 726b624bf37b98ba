import { deflateList } from '#shared/risk/credentials/status-list.ts'
import { signJwt } from '#shared/risk/domain-keys/signing-key.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { certificates } from '../../support/identity-certificates.ts'
import { type ApiClient, openClient, type Reply } from '../../support/platform-client.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { type Binding, issueCredential, type KeyPair, presentCredential } from '../../support/test-issuer.ts'
import {
  answerOf,
  holderJwk,
  newKeyPair,
  post,
  type ResolvedRequest,
  resolveRequest,
} from '../../support/test-wallet.ts'

export const VCT = 'https://credentials.example/company'
export const company = { legalName: 'Synthetic Components Private Limited', gstin: '29AAACR5678D1Z5' }

export let product: HttpProduct
let sink: HttpSink
export let client: ApiClient
export let issuer: KeyPair
export let foreign: KeyPair
export let holder: KeyPair
export let iss = ''

let started: Promise<void> | undefined
let stopped: Promise<void> | undefined

/** Opens the product with an issuer at a server of the tests, once for all files of a process. */
export function start(): Promise<void> {
  started ??= open()
  return started
}

/** Closes both. Call it in `test.after.always`. */
export function stop(): Promise<void> {
  stopped ??= close()
  return stopped
}

async function open(): Promise<void> {
  const { server, serverKey, authority } = certificates
  sink = await openHttpSink({ tls: { cert: server, key: serverKey } })
  product = await openProduct({
    listener: 'http',
    workers: ['presentation-verifier'],
    isBound: true,
    // Thousands of presentations come from one address: `make fuzz-presentations`.
    env: { OID4VP_CA: authority, PLATFORM_RATE_LIMIT_PER_MINUTE: '0', PUBLIC_RATE_LIMIT_PER_MINUTE: '0' },
  })
  client = await openClient(product, product.url)
  issuer = await newKeyPair()
  foreign = await newKeyPair()
  holder = await newKeyPair()
  iss = sink.url
  sink.respond = ({ path }) => statusAnswer(path)
  t0 = Math.floor(Date.now() / 1000)
  const trusted = await trust(client)
  if (trusted.status !== 201) throw new Error(trusted.text)
}

async function close(): Promise<void> {
  await product?.[Symbol.asyncDispose]()
  await sink?.[Symbol.asyncDispose]()
}

export let t0 = 0
let lists: Record<string, { text: string }> = {}
const statusAnswer = (path: string) => {
  if (path === '/failing') return { status: 503 }
  const list = lists[path]
  return list ? { headers: { 'content-type': 'application/statuslist+jwt' }, body: list.text } : { status: 404 }
}

export const trust = (own: ApiClient, more: object = {}) =>
  own.post('/v1/identity/issuers', { iss, vctValues: [VCT], jwks: { keys: [issuer.publicJwk] }, ...more })

export const ask = (own: ApiClient, more: object = {}) =>
  own.post('/v1/identity/presentations', { purpose: 'onboarding', template: 'company-basic', ...more })

/** A credential for the holder, by a library that is not ours. */
export const issued = (claims: object = {}, by = issuer, header: object = {}) =>
  issueCredential(
    by,
    { iss, vct: VCT, ...company, cnf: { jwk: holderJwk(holder) }, ...claims } as { iss: string; vct: string },
    ['legalName', 'gstin'],
    header,
  )

/** Everything that a wallet may get wrong, right. */
export interface Attempt {
  request: ResolvedRequest
  credential: string
  by: KeyPair
  claims: readonly string[]
  binding: Binding
  token(presentation: string): object
  change(presentation: string): string
  form(form: URLSearchParams): URLSearchParams
}

export async function attempt(
  requested: Reply,
  change: Partial<Attempt> | ((request: ResolvedRequest) => Promise<Partial<Attempt>>) = {},
) {
  const request = await resolveRequest(requested.json.authorizationRequest)
  const changed = typeof change === 'function' ? await change(request) : change
  const all: Attempt = {
    request,
    credential: changed.credential ?? (await issued()),
    by: holder,
    claims: ['legalName', 'gstin'],
    binding: { nonce: request.nonce, aud: request.clientId },
    token: (presentation) => ({ company: [presentation] }),
    change: (presentation) => presentation,
    form: (form) => form,
    ...changed,
  }
  const presentation = all.change(await presentCredential(all.credential, all.by, all.claims, all.binding))
  const { url, form } = await answerOf(all.request, all.token(presentation))
  return await post(url, all.form(form))
}

export const view = (own: ApiClient, requested: Reply) =>
  own.get(`/v1/identity/presentations/${requested.json.presentationId}`)

/** Puts a document at an address of the issuer's server. */
export function place(path: string, text: string): void {
  lists = { ...lists, [path]: { text } }
}

/** Counts the requests to an address of the issuer's server. */
export const requestCount = (path: string): number => sink.requests.filter((request) => request.path === path).length

/** Publishes a status list of the issuer. @returns its address */
export async function publish(path: string, claims: object = {}, by = issuer, typ = 'statuslist+jwt') {
  const uri = `${iss}${path}`
  const lst = await deflateList(
    16,
    2,
    new Map([
      [1, 1],
      [2, 2],
      [3, 3],
    ]),
  )
  const payload = { sub: uri, iat: t0, ttl: 600, status_list: { bits: 2, lst }, ...claims }
  lists = {
    ...lists,
    [path]: { text: await signJwt(payload, { typ, kid: issuer.publicJwk.kid ?? '' }, by.privateJwk) },
  }
  return uri
}
