import { randomUUID } from 'node:crypto'
import { type HttpRequest, type IncomingResponse, NoAnswerError } from '#shared/risk/registries/connector.ts'
import {
  type CheckedOperation,
  type CheckedRequest,
  codeOf,
  type Data,
  type Identifiers,
  OPERATIONS,
  type Row,
  row,
  scan,
  UNASSIGNED_GSTIN,
  UNASSIGNED_PAN,
} from './check-rules.ts'
import { masked } from './rules.ts'
import { isAllowedAddress } from './settings.ts'

export interface CheckOptions {
  url: string
  token: string
  ids: Identifiers
  only?: string | undefined
  maxCalls: number
  http: HttpRequest
  now: () => number
  /** waits between two requests */
  pause: () => Promise<void>
}

/** A request was not sent, because the limit of requests is reached. */
class LimitError extends Error {}

interface Sent {
  response: IncomingResponse | undefined
  ms: number
}

interface Changes {
  token?: string | null
  consent?: string | null
  requestId?: string
}

/** Returns the maximum number of requests, and the maximum number that a provider may charge. */
export function plannedRequests(
  { ids, only, maxCalls }: Pick<CheckOptions, 'ids' | 'only' | 'maxCalls'>,
  nowMs: number,
) {
  const operations = OPERATIONS.filter(({ name }) => only === undefined || only === name)
  const planned = operations.filter((operation) => operation.request(ids, nowMs) !== undefined)
  const charged = planned.length + planned.filter(({ unassigned }) => unassigned !== undefined).length
  return { requests: Math.min(maxCalls, 3 + planned.length * 7), charged: Math.min(maxCalls, charged) }
}

/** Checks a gateway. Returns one row for each rule, and the number of requests. */
export async function checkGateway(options: CheckOptions): Promise<{ rows: Row[]; requests: number }> {
  const { ids, only, url, now } = options
  const rows: Row[] = []
  let requests = 0

  async function send(
    operation: string,
    request: CheckedRequest,
    timeoutMs: number,
    changes: Changes = {},
  ): Promise<Sent> {
    if (requests >= options.maxCalls) throw new LimitError()
    if (requests > 0) await options.pause()
    requests++
    const search = new URLSearchParams(request.query).toString()
    const token = changes.token === undefined ? options.token : changes.token
    const headers: Record<string, string> = {
      accept: 'application/json',
      'x-request-id': changes.requestId ?? randomUUID(),
    }
    if (token !== null) headers.authorization = `Bearer ${token}`
    const consent = changes.consent === undefined ? ids.consent : changes.consent
    if (consent) headers['x-consent-handle'] = consent
    if (request.body) headers['content-type'] = 'application/json'
    const startedAt = now()
    const response = await options
      .http({
        method: request.method,
        url: `${url.replace(/\/$/, '')}${request.path}${search && `?${search}`}`,
        headers,
        ...(request.body ? { body: JSON.stringify(request.body) } : {}),
        timeoutMs,
        connectTimeoutMs: 3000,
        signal: AbortSignal.timeout(timeoutMs),
      })
      .catch((error: unknown) => {
        if (error instanceof NoAnswerError) return undefined
        throw error
      })
    if (response?.status === 429) {
      const isGood = response.headers['retry-after'] !== undefined
      rows.push(row(operation, 'G28 Retry-After', isGood, '429 without Retry-After', 'WARN'))
    }
    return { response, ms: now() - startedAt }
  }

  const operations = OPERATIONS.filter(({ name }) => only === undefined || only === name)
  try {
    rows.push(...(await checkAccess(options, (...sent) => send('all', ...sent))))
    for (const operation of operations) {
      rows.push(...(await checkOperation(operation, options, (...sent) => send(operation.name, ...sent))))
    }
  } catch (error) {
    if (!(error instanceof LimitError)) throw error
    rows.push({ operation: '', check: 'limit', result: 'SKIP', detail: `--max-calls ${options.maxCalls} is reached` })
  }
  return { rows, requests }
}

type Send = (request: CheckedRequest, timeoutMs: number, changes?: Changes) => Promise<Sent>

async function checkAccess({ url, ids }: CheckOptions, send: Send): Promise<Row[]> {
  const path = `/taxpayers/${ids.gstin ?? UNASSIGNED_GSTIN}`
  const request: CheckedRequest = { method: 'GET', path, query: {} }
  const refused: boolean[] = []
  for (const token of [null, 'wrong-token']) {
    const { response } = await send(request, 8000, { token })
    const isRefused = response !== undefined && [401, 403].includes(response.status)
    refused.push(isRefused && codeOf(response.body) !== undefined)
  }
  const unknown = await send({ method: 'GET', path: '/no-such-operation', query: {} }, 8000)
  return [
    row('all', 'G01 token', !refused.includes(false), 'no token or a wrong one must be 401 or 403 with a code'),
    row(
      'all',
      'G02 unknown path',
      unknown.response?.status === 404,
      `${unknown.response?.status ?? 'no response'}; must be 404`,
    ),
    row('all', 'G03 https', isAllowedAddress(url), 'the address must be https unless it is loopback'),
  ]
}

async function checkOperation(operation: CheckedOperation, options: CheckOptions, send: Send): Promise<Row[]> {
  const { name, timeoutMs, needsConsent = false } = operation
  const { ids, now } = options
  const request = operation.request(ids, now())
  const skipped = (check: string, detail: string): Row[] => [{ operation: name, check, result: 'SKIP', detail }]
  if (!request) return skipped('request', 'needs an identifier')
  if (needsConsent && !ids.consent) return [...skipped('consent', 'needs --consent'), ...(await withoutConsent())]
  const requestId = randomUUID()
  const { response, ms } = await send(request, timeoutMs, { requestId })
  if (!response) return [row(name, 'G05 time', false, `no answer within ${timeoutMs / 1000} s`)]
  const code = codeOf(response.body)
  if (response.status === 403 && code === 'NOT_ENTITLED') return skipped('G15 not served', code)
  const rows = [row(name, 'G05 time', ms <= timeoutMs, `${ms} ms`), ...formRows(name, response)]
  if (response.status === 200) rows.push(...answerRows(operation, request, options, response))
  const again = await send(request, timeoutMs, { requestId })
  if (isFinal(response.status)) {
    const isEqual = again.response?.body.equals(response.body) === true
    rows.push(row(name, 'G11 repetition', isEqual, 'the same x-request-id gives other bytes', 'WARN'))
  }
  const wrong: CheckedRequest = { ...request, method: request.method === 'GET' ? 'POST' : 'GET' }
  const method = (await send(wrong, timeoutMs)).response?.status ?? 0
  rows.push(row(name, 'G12 wrong method', method >= 400 && method < 500, `${method}; must be 4xx`))
  rows.push(...(await unassignedRows()))
  if (Object.keys(request.query).length > 0) {
    const bare = (await send({ ...request, query: {} }, timeoutMs)).response?.status ?? 0
    rows.push(row(name, 'G14 missing parameter', bare >= 400 && bare < 500, `${bare}; must be 4xx`))
  }
  return needsConsent ? [...rows, ...(await withoutConsent())] : rows

  async function unassignedRows(): Promise<Row[]> {
    const other = operation.unassigned?.(ids)
    const unassigned = other && operation.request(other, now())
    if (!unassigned || needsConsent) return []
    const { response: found } = await send(unassigned, timeoutMs)
    const isGood = found?.status === 404 && codeOf(found.body) === 'NOT_FOUND'
    const identifier = Object.values(unassigned.query)[0] ?? unassigned.path.split('/').at(-1) ?? ''
    const detail = `${found?.status ?? 'no response'} for ${masked(identifier)}; must be 404 NOT_FOUND`
    return [row(name, 'G13 unassigned number', isGood, detail)]
  }

  async function withoutConsent(): Promise<Row[]> {
    if (!request) return []
    const refusals: (string | undefined)[] = []
    for (const consent of [null, 'unknown-consent-handle']) {
      const { response: refused } = await send(request, timeoutMs, { consent })
      refusals.push(refused && codeOf(refused.body))
    }
    if (refusals.includes('NOT_ENTITLED')) return skipped('G16 consent', 'NOT_ENTITLED')
    const isGood = refusals.every((refusal) => refusal === 'NO_CONSENT')
    const rows = [row(name, 'G16 consent', isGood, `${refusals.join(', ')}; must be NO_CONSENT`)]
    const other: Identifiers = {
      ...ids,
      gstin: UNASSIGNED_GSTIN,
      pan: UNASSIGNED_PAN,
      ...(ids.pair ? { pair: [UNASSIGNED_GSTIN, ids.pair[1]] as const } : {}),
    }
    const foreign = ids.consent ? operation.request(other, now()) : undefined
    if (!foreign) return rows
    const { response: refused } = await send(foreign, timeoutMs)
    const foreignCode = refused && codeOf(refused.body)
    const detail = `${foreignCode ?? refused?.status}; must be NO_CONSENT`
    return [...rows, row(name, 'G18 other subject', foreignCode === 'NO_CONSENT', detail)]
  }
}

function isFinal(status: number): boolean {
  return status < 500 && status !== 408 && status !== 429
}

const MAX_BYTES = 8 * 1024 * 1024

function formRows(name: string, response: IncomingResponse): Row[] {
  const { status, headers, body } = response
  const isJson = String(headers['content-type'] ?? '').includes('json')
  const isRedirect = status >= 300 && status < 400
  const rows = [row(name, 'G04 form', isJson && !isRedirect && body.length <= MAX_BYTES, 'JSON, no redirect, 8 MiB')]
  if (status >= 400 && status < 500) {
    rows.push(row(name, 'G06 code', codeOf(body) !== undefined, `${status} without a code of the contract`))
  }
  return rows
}

function answerRows(
  operation: CheckedOperation,
  request: CheckedRequest,
  { ids, now }: CheckOptions,
  response: IncomingResponse,
): Row[] {
  const { name } = operation
  const text = response.body.toString('utf8')
  let body: Data
  try {
    body = JSON.parse(text)
  } catch {
    return [row(name, 'G07 schema', false, 'not JSON')]
  }
  const { amounts, hashes, plainHashes, personal, repaired } = scan(body.data, ids.known)
  const schema = operation.schema.safeParse({ ...body, data: repaired })
  const [issue] = schema.error?.issues ?? []
  const data: Data = typeof body.data === 'object' && body.data !== null ? { ...body.data } : {}
  const rows = [
    row(name, 'G07 schema', schema.success, issue ? `${issue.path.join('.')}: ${issue.message}` : ''),
    row(name, 'G10 amounts', amounts.length === 0, `more than two decimals in ${amounts.join(', ')}`),
    row(name, 'G25 personal members', personal.length === 0, personal.join(', ')),
    row(name, 'G26 hashes', hashes.length === 0, `not 64 hex characters: ${hashes.join(', ')}`),
    row(name, 'G27 upstream', Array.isArray(body.upstream), 'no upstream', 'WARN'),
  ]
  if (plainHashes.length > 0) rows.push(row(name, 'G26 hashes', false, 'the plain SHA-256 of a value', 'WARN'))
  const asOf = typeof body.asOf === 'string' ? Date.parse(body.asOf) : 0
  rows.push(row(name, 'G09 asOf', !(asOf > now() + 60_000), 'in the future'))
  if (!schema.success) return rows
  rows.push(row(name, 'G08 subject', operation.isAbout(data, ids), 'the answer is about another subject'))
  if (operation.needsConsent) rows.push(consentRow(name, body.consent, ids, now()))
  return [...rows, ...(operation.rules?.(data, request, ids) ?? [])]
}

function consentRow(name: string, consent: unknown, ids: Identifiers, nowMs: number): Row {
  const { handle, expiresAt }: { handle?: unknown; expiresAt?: unknown } =
    typeof consent === 'object' && consent !== null ? consent : {}
  const isLive = typeof expiresAt !== 'string' || Date.parse(expiresAt) > nowMs
  return row(name, 'G17 consent echo', handle === ids.consent && isLive, 'another handle, or expired')
}
