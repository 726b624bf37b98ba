import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { UnavailableError } from '#shared/errors.ts'
import { MAX_NAME_LENGTH } from '#shared/monitoring/checks/slug.ts'
import { isAuthorised, type PingAuth, type PingAuthRules } from '#shared/monitoring/pings/ping-secret.ts'
import { provisionCheck } from '#shared/monitoring/pings/provision-store.ts'
import { MAX_EXIT_STATUS, type PingUrl, parsePingPath, parsePingQuery } from '#shared/monitoring/pings/url.ts'
import { sourceName } from '#shared/monitoring/rules/source-rule.ts'
import { asUnavailable } from '#shared/platform/database/db.ts'
import {
  type Client,
  parseTrustedProxies,
  resolveClient,
  type TrustedProxies,
} from '#shared/platform/http/remote-addr.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { createTokenBuckets, type TokenBuckets } from '#shared/platform/process/token-buckets.ts'
import { toMillis } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import type { Batcher } from '../ping-path/batcher.ts'
import type { CheckCache, KnownCheck } from '../ping-path/check-cache.ts'
import { decryptRules } from '../ping-path/decrypt-rules.ts'
import type { Heartbeat } from '../ping-path/heartbeat.ts'
import type { ListenerProof } from '../ping-path/listener-proof.ts'
import type { PingUsage } from '../ping-path/usage-counters.ts'
import { answerLogged, answerPreflight, answerRefused, type Reply } from './answers.ts'
import { bodyReader, createLongBodies, type ReadBody } from './read-body.ts'

/** The part of a request that a ping needs; from Node's server or from the fast path. */
export interface PingRequest {
  method?: string | undefined
  url?: string | undefined
  headers: IncomingHttpHeaders
  socket: Socket
}

export interface PingHandler {
  handle(request: IncomingMessage, response: ServerResponse): void
  handleFast(request: PingRequest, reply: Reply): void
  /** @param readBody null if the request has no body */
  answer(request: PingRequest, reply: Reply, readBody: ReadBody | null): void
}

type Target = PingUrl & { form: 'uuid' | 'slug' }

/** A value, not an error, for speed. */
class Refusal {
  readonly status: number
  readonly text: string
  readonly isCacheable: boolean
  constructor(status: number, text: string, isCacheable = false) {
    this.status = status
    this.text = text
    this.isCacheable = isCacheable
  }
}

const BAD_URL = 'invalid url format'
const PREFIX = '/ping/'
const USER_AGENT_LENGTH = 200

/**
 * Answers all requests under /ping/ (docs/spec/monitoring.md#ping-urls). It runs before Express, for speed. It sends
 * `OK` only after the broker has confirmed the ping.
 */
export function createPingHandler(deps: HandlerDeps, parts: HandlerParts, bodies = createLongBodies()): PingHandler {
  const answering = new Answering(deps, parts)
  const { pingBodyLimit } = deps.config
  return {
    handle: (request, response) =>
      answering.answer(request, response, bodyReader(request, response, pingBodyLimit, bodies)),
    handleFast: (request, reply) => answering.answer(request, reply, null),
    answer: (request, reply, readBody) => answering.answer(request, reply, readBody),
  }
}

type HandlerDeps = Pick<IngressDeps, 'config' | 'outbox' | 'secrets' | 'log' | 'metrics' | 'now' | 'announce'>

interface HandlerParts {
  cache: CheckCache
  batcher: Batcher
  heartbeat: Heartbeat
  uses: PingUsage
  proof: Pick<ListenerProof, 'refusals'>
}

class Answering {
  readonly #deps: HandlerDeps
  readonly #parts: HandlerParts
  readonly #trusted: TrustedProxies
  /** Prevents a client in a loop from delaying others; it is not a quota. */
  readonly #pingLimit: TokenBuckets
  readonly #bodyLimit: number
  readonly #directClients = new WeakMap<Socket, Client>()

  constructor(deps: HandlerDeps, parts: HandlerParts) {
    this.#deps = deps
    this.#parts = parts
    this.#trusted = parseTrustedProxies(deps.config.trustedProxies)
    this.#pingLimit = createTokenBuckets(deps.config.pingRateLimitPerMinute, 100_000)
    this.#bodyLimit = deps.config.pingBodyLimit
  }

  /** @param readBody null if the request has no body */
  answer(request: PingRequest, reply: Reply, readBody: ReadBody | null): void {
    const { method = '' } = request
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') {
      if (method === 'OPTIONS') answerPreflight(reply)
      else answerRefused(reply, 405, 'method not allowed', { isCacheable: true })
      return
    }
    const url = request.url ?? ''
    const pathEnd = url.indexOf('?')
    const target = parsePingPath(pathEnd === -1 ? url.slice(PREFIX.length) : url.slice(PREFIX.length, pathEnd))
    const query = pathEnd === -1 ? '' : url.slice(pathEnd + 1)
    if (target.form === 'none' || target.form === 'bad-slug') {
      const refusal = target.form === 'none' ? new Refusal(404, 'not found', true) : new Refusal(400, BAD_URL, true)
      this.#refuse(reply, refusal)
      return
    }
    const known = target.form === 'uuid' ? this.#parts.cache.byUuid.peek(target.uuid) : undefined
    if (known && !readBody) this.#accept(request, reply, target, query, known, null, false)
    else
      this.#answerSlowly(request, reply, readBody, target, query, known).catch((error: unknown) => {
        if (!reply.destroyed) this.#parts.proof.refusals.countUnresolved()
        this.#fail(reply, error)
      })
  }

  async #answerSlowly(
    request: PingRequest,
    reply: Reply,
    readBody: ReadBody | null,
    target: Target,
    query: string,
    known: KnownCheck | null | undefined,
  ): Promise<void> {
    // Before the first heartbeat sweeps do not wait for our pings. The cache is empty then, so all pings wait here.
    await this.#parts.heartbeat.begun()
    const found =
      target.form === 'uuid'
        ? { check: known === undefined ? await this.#parts.cache.byUuid.find(target.uuid) : known, isNew: false }
        : await this.#findBySlug(target, query)
    if (found instanceof Refusal || !found.check) {
      this.#refuse(reply, found instanceof Refusal ? found : new Refusal(404, 'not found'))
      return
    }
    let body: Buffer | null = null
    try {
      if (readBody) body = await readBody()
    } catch (error) {
      // The check is known, so the refusal counts for this check only.
      if (!reply.destroyed) this.#parts.proof.refusals.count(found.check.checkId, performance.now())
      this.#fail(reply, error)
      return
    }
    if (target.form === 'slug') this.#parts.uses.keyUsed(target.pingKey)
    this.#accept(request, reply, target, query, found.check, body, found.isNew)
  }

  async #findBySlug(
    target: Target & { form: 'slug' },
    query: string,
  ): Promise<{ check: KnownCheck; isNew: boolean } | Refusal> {
    const key = `${target.pingKey}/${target.slug}`
    const match = this.#parts.cache.bySlug.peek(key) ?? (await this.#parts.cache.bySlug.find(key))
    if (match === 'ambiguous') return new Refusal(409, 'ambiguous slug', true)
    if (match) return { check: match, isNew: false }
    if (!parsePingQuery(query).create) return new Refusal(404, 'not found', true)
    // The API refuses longer names, so an export with this one could not be imported.
    if (target.slug.length > MAX_NAME_LENGTH) return new Refusal(400, BAD_URL, true)
    const made = await this.#deps.outbox.run((tx) =>
      provisionCheck(
        tx,
        this.#deps.secrets.digests(target.pingKey),
        { slug: target.slug, requested: new URLSearchParams(query) },
        this.#deps.config.checkLimit,
      ),
    )
    if (made.outcome === 'ambiguous') return new Refusal(409, 'ambiguous slug', true)
    if (made.outcome === 'refused') return new Refusal(404, 'not found', true)
    const check = decryptRules(made.check, this.#deps.secrets)
    if (made.outcome === 'created' && made.leftOut.length > 0)
      this.#deps.log.warn(
        { projectId: check.projectId, slug: target.slug, leftOut: made.leftOut },
        'check.integrations-omitted',
      )
    this.#deps.announce({ kind: 'check', uuid: check.uuid, projectId: check.projectId })
    return { check, isNew: made.outcome === 'created' }
  }

  #accept(
    request: PingRequest,
    reply: Reply,
    target: Target,
    query: string,
    check: KnownCheck,
    body: Buffer | null,
    isNew: boolean,
  ): void {
    const { rid, source: namedSource } = parsePingQuery(query)
    const hasBadStatus = target.exitStatus !== null && target.exitStatus > MAX_EXIT_STATUS
    if (hasBadStatus || rid === null) {
      this.#refuse(reply, new Refusal(400, hasBadStatus ? BAD_URL : 'invalid uuid format'))
      return
    }
    if (check.rules?.auth && !this.#isAuthorised(request, check.rules.auth, body)) {
      this.#parts.uses.unauthorised(check.checkId)
      this.#refuse(reply, new Refusal(401, 'missing or wrong ping secret'))
      return
    }
    // The arrival is the end of the request, because sweeps do not wait for incomplete requests.
    const receivedAt = this.#deps.now()
    if (!this.#pingLimit.take(check.checkId, toMillis(receivedAt)).granted) {
      // Not labelled with its status: a limited ping by uuid gets 200, but is lost.
      this.#deps.metrics.pingsRefused.inc({ status: 'limited' })
      this.#parts.uses.limited(check.checkId)
      if (target.form === 'uuid') answerLogged(reply, 200, 'OK (rate limited)', this.#bodyLimit)
      else answerRefused(reply, 429, 'rate limited', { retryAfterSeconds: 60 })
      return
    }
    const { headers } = request
    const client = this.#clientOf(request)
    const sourceFrom = check.rules?.sourceFrom
    const ping = {
      checkId: check.checkId,
      kind: target.kind,
      exitStatus: target.exitStatus,
      receivedAt,
      scheme: client.scheme,
      remoteAddr: client.remoteAddr,
      method: request.method ?? '',
      ua: (headers['user-agent'] ?? '').slice(0, USER_AGENT_LENGTH),
      rid: rid ?? null,
      body,
      ...(sourceFrom && { source: sourceOf(sourceFrom, { named: namedSource, headers, client }) }),
    }
    this.#parts.batcher.add(ping, (error) => {
      if (error) {
        this.#parts.proof.refusals.count(check.checkId, performance.now())
        this.#fail(reply, error)
        return
      }
      this.#deps.metrics.pingsAccepted.inc()
      answerLogged(reply, isNew ? 201 : 200, isNew ? 'Created' : 'OK', this.#bodyLimit)
    })
  }

  #isAuthorised({ headers, method = '', url = '' }: PingRequest, auth: PingAuth, body: Buffer | null): boolean {
    const { authorization } = headers
    const signature = joined(headers['x-ping-signature'])
    const isRight = (signed: string) =>
      isAuthorised(auth, { authorization, signature, method, url: signed, body }, this.#deps.now())
    const { basePath } = this.#deps.config
    // The signature covers the path that the client used. A proxy may have removed its beginning.
    return isRight(url) || (basePath !== '' && isRight(basePath + url))
  }

  /** Cached for connections without forwarding headers. */
  #clientOf({ headers, headers: { forwarded }, socket }: PingRequest): Client {
    const forwardedFor = joined(headers['x-forwarded-for'])
    const forwardedProto = joined(headers['x-forwarded-proto'])
    const isDirect = forwardedFor === undefined && forwarded === undefined && forwardedProto === undefined
    const known = isDirect ? this.#directClients.get(socket) : undefined
    if (known) return known
    const client = resolveClient({ peer: socket.remoteAddress, forwardedFor, forwarded, forwardedProto }, this.#trusted)
    if (isDirect) this.#directClients.set(socket, client)
    return client
  }

  #refuse(reply: Reply, { status, text, isCacheable }: Refusal): void {
    this.#deps.metrics.pingsRefused.inc({ status })
    answerRefused(reply, status, text, { isCacheable })
  }

  #fail(reply: Reply, cause: unknown): void {
    if (reply.destroyed || reply.headersSent) return
    const error = asUnavailable(cause)
    if (error instanceof UnavailableError) {
      this.#deps.metrics.pingsRefused.inc({ status: 503 })
      answerRefused(reply, 503, 'try again later', { retryAfterSeconds: error.retryAfterSeconds })
      return
    }
    this.#deps.log.error(describeError(error), 'ping.failed')
    this.#deps.metrics.pingsRefused.inc({ status: 500 })
    answerRefused(reply, 500, 'internal error')
  }
}

function sourceOf(
  from: NonNullable<PingAuthRules['sourceFrom']>,
  { named, headers, client }: { named: string | null; headers: IncomingHttpHeaders; client: Client },
): string {
  if (from === 'address') return sourceName(client.remoteAddr)
  return sourceName(from === 'query' ? named : joined(headers['x-ping-source']))
}

function joined(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header
}
