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
export let otherKeyPair: KeyPair
export let holder: KeyPair
export let iss = ''

let started: Promise<void> | undefined
let stopped: Promise<void> | undefined

/** Starts the product and the server of an issuer, once per process. */
export function start(): Promise<void> {
  started ??= open()
  return started
}

/** Stops both. Call it in `test.after.always`. */
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
    hasRowSecurity: true,
    // Thousands of presentations come from one address: `make fuzz-presentations`.
    env: { OID4VP_CA: authority, PLATFORM_RATE_LIMIT_PER_MINUTE: '0', PUBLIC_RATE_LIMIT_PER_MINUTE: '0' },
  })
  client = await openClient(product, product.url)
  issuer = await newKeyPair()
  otherKeyPair = await newKeyPair()
  holder = await newKeyPair()
  iss = sink.url
  sink.respond = ({ path }) => statusAnswer(path)
  nowSeconds = Math.floor(Date.now() / 1000)
  const trusted = await trust(client)
  if (trusted.status !== 201) throw new Error(trusted.text)
}

async function close(): Promise<void> {
  await product?.[Symbol.asyncDispose]()
  await sink?.[Symbol.asyncDispose]()
}

/** Unix time at the start of the tests. */
export let nowSeconds = 0
let lists: Record<string, { text: string }> = {}
const statusAnswer = (path: string) => {
  if (path === '/failing') return { status: 503 }
  const list = lists[path]
  return list ? { headers: { 'content-type': 'application/statuslist+jwt' }, body: list.text } : { status: 404 }
}

export const trust = (own: ApiClient, more: object = {}) =>
  own.post('/v1/identity/issuers', { iss, vctValues: [VCT], jwks: { keys: [issuer.publicJwk] }, ...more })

export const requestPresentation = (own: ApiClient, more: object = {}) =>
  own.post('/v1/identity/presentations', { purpose: 'onboarding', template: 'company-basic', ...more })

/** Issues a credential to the holder with a library that the product does not use. */
export const newCredential = (claims: object = {}, by = issuer, header: object = {}) =>
  issueCredential(
    by,
    { iss, vct: VCT, ...company, cnf: { jwk: holderJwk(holder) }, ...claims } as { iss: string; vct: string },
    ['legalName', 'gstin'],
    header,
  )

/** Parts of a valid response of a wallet; a test replaces the part that it makes invalid. */
export interface Submission {
  request: ResolvedRequest
  credential: string
  by: KeyPair
  claims: readonly string[]
  binding: Binding
  token(presentation: string): object
  change(presentation: string): string
  form(form: URLSearchParams): URLSearchParams
}

export async function submitPresentation(
  requested: Reply,
  change: Partial<Submission> | ((request: ResolvedRequest) => Promise<Partial<Submission>>) = {},
) {
  const request = await resolveRequest(requested.json.authorizationRequest)
  const changed = typeof change === 'function' ? await change(request) : change
  const all: Submission = {
    request,
    credential: changed.credential ?? (await newCredential()),
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

export const readPresentation = (own: ApiClient, requested: Reply) =>
  own.get(`/v1/identity/presentations/${requested.json.presentationId}`)

/** Serves a document at a path of the issuer's server. */
export function serveDocument(path: string, text: string): void {
  lists = { ...lists, [path]: { text } }
}

/** Counts the requests to a path of the issuer's server. */
export const requestCount = (path: string): number => sink.requests.filter((request) => request.path === path).length

/**
 * Serves a status list of the issuer: index 1 is revoked, 2 suspended, 3 has an application-specific status.
 * @returns its URL
 */
export async function publishStatusList(path: string, claims: object = {}, by = issuer, typ = 'statuslist+jwt') {
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
  const payload = { sub: uri, iat: nowSeconds, ttl: 600, status_list: { bits: 2, lst }, ...claims }
  lists = {
    ...lists,
    [path]: { text: await signJwt(payload, { typ, kid: issuer.publicJwk.kid ?? '' }, by.privateJwk) },
  }
  return uri
}
