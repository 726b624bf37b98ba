import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Adapter, type Answer, type GatewayRequest, jsonAnswer, refusalAnswer } from './adapter.ts'
import type { AnswerLine, CallDeps, Work } from './calls.ts'
import { isFinal, notEntitled, notFound, Refusal, sha256 } from './rules.ts'

/** Method of each path of the contract, including `/groups` and foreign registers. */
const CONTRACT: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/returns/trade': 'GET',
  '/returns/outward-supplies': 'GET',
  '/invoice-actions': 'GET',
  '/taxpayers/{gstin}': 'GET',
  '/companies': 'GET',
  '/establishments': 'GET',
  '/accounts/deposits': 'GET',
  '/exporter-codes/{iec}': 'GET',
  '/export-certificates': 'GET',
  '/shipping-bills': 'GET',
  '/searches/security-interests': 'POST',
  '/searches/persons': 'POST',
  '/lei-records': 'GET',
  '/lei-records/{lei}': 'GET',
  '/groups': 'GET',
  '/registry-companies/{authority}/{number}': 'GET',
}

/** Below the product's timeouts of 8 s and 15 s. */
const ANSWER_MS = 6500
const SLOW_ANSWER_MS = 13_000
/** Time for which a final answer is cached. */
const CACHE_MS = 10 * 60_000
const MAX_CACHED_BYTES = 64 * 1024 * 1024

interface AdapterState {
  lastOkAt: string | null
  lastFailure: { at: string; code: string } | null
  /** results of the last five requests, newest last */
  recent: boolean[]
}

export interface Gateway {
  /**
   * Answers a request; an error of this program is 500.
   * @param requestId equal for repeated requests, which get the cached answer; null disables the cache
   */
  answer(request: GatewayRequest, requestId: string | null, body: string): Promise<Answer>
  states: ReadonlyMap<string, AdapterState>
  /** Removes all answers with a consent from the cache, because one handle may name several consents. */
  forgetConsented(): void
}

export interface GatewayOptions {
  adapters: readonly Adapter[]
  deps: CallDeps
  /** counts an answer by operation and code */
  count: (operation: string, code: string) => void
  /** adapters whose data is that of a test environment */
  tests?: ReadonlySet<string>
  /** reports an error of this program, without the request */
  fault: (error: unknown) => void
  /** receives one line per answer, without personal data */
  answered?: (line: AnswerLine) => void
}

interface CachedAnswer {
  answer: Answer
  until: number
  isConsented: boolean
}

/** Finds the adapter of a request. Caches final answers; equal concurrent requests share one answer. */
export function createGateway(options: GatewayOptions): Gateway {
  const { adapters, deps, count, fault, answered = () => {}, tests = new Set() } = options
  const cache = new LRUCache<string, CachedAnswer>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ answer }) => answer.body.length + 500,
  })
  const pending = new Map<string, Promise<Answer>>()
  const states = new Map<string, AdapterState>(
    adapters.map(({ name }) => [name, { lastOkAt: null, lastFailure: null, recent: [] }]),
  )

  async function answerOnce(request: GatewayRequest, operation: string, requestId: string): Promise<Answer> {
    const adapter = adapters.find(({ operations }) => operations.includes(operation))
    const startedAt = deps.now()
    const report = (status: number, code: string, member: string | null = null) => {
      count(operation, code)
      const ms = deps.now() - startedAt
      answered({ adapter: adapter?.name ?? null, operation, status, ms, code, requestId, member })
    }
    const refused = (refusal: Refusal) => {
      report(refusal.status, refusal.code, refusal.member ?? null)
      return refusalAnswer(refusal)
    }
    if (!adapter) return refused(notEntitled())
    const isSlow = operation.startsWith('/taxpayers/') || operation.startsWith('/returns/')
    const work: Work = {
      deps,
      operation,
      requestId,
      deadline: startedAt + (isSlow ? SLOW_ANSWER_MS : ANSWER_MS),
      upstream: [],
      isTest: tests.has(adapter.name),
    }
    try {
      const answer = await adapter.answer(request, work)
      note(adapter.name, null)
      report(answer.status, 'OK')
      return answer
    } catch (error) {
      if (!(error instanceof Refusal)) {
        report(500, '500')
        fault(error)
        return jsonAnswer(500, {})
      }
      // Without a call a refusal shows nothing about the provider.
      if (work.isCalled) note(adapter.name, error)
      return refused(error)
    }
  }

  function note(name: string, refusal: Refusal | null): void {
    const state = states.get(name)
    if (!state) return
    const at = new Date(deps.now()).toISOString()
    // A record that does not exist, or a consent that ended, is a success of the provider.
    const isOk = refusal === null || ['NOT_FOUND', 'NOT_FILED'].includes(refusal.code) || isOfConsent(refusal)
    if (isOk) state.lastOkAt = at
    else state.lastFailure = { at, code: refusal.code }
    state.recent = [...state.recent, isOk].slice(-5)
  }

  return {
    states,
    forgetConsented() {
      for (const [key, entry] of cache.entries()) if (entry.isConsented) cache.delete(key)
    },
    async answer(request, requestId, body) {
      const operation = operationOf(request.path)
      if (operation === undefined) return refusalAnswer(notFound())
      if (request.method !== CONTRACT[operation]) return refusalAnswer(new Refusal(405, 'NOT_ENTITLED'))
      const { method, path, query, handle, organisation } = request
      const key = sha256(JSON.stringify([requestId, method, path, query, body, handle, organisation]))
      const now = deps.now()
      const earlier = requestId === null ? undefined : cache.get(key)
      if (earlier && earlier.until > now) return earlier.answer
      const running = requestId === null ? undefined : pending.get(key)
      if (running !== undefined) return await running
      const answering = answerOnce(request, operation, requestId ?? randomUUID())
      if (requestId !== null) pending.set(key, answering)
      try {
        const answer = await answering
        const isCacheable = requestId !== null && isFinal(answer.status)
        if (isCacheable) cache.set(key, { answer, until: now + CACHE_MS, isConsented: handle !== null })
        return answer
      } finally {
        pending.delete(key)
      }
    },
  }
}

function isOfConsent({ code }: Refusal): boolean {
  return code.includes('CONSENT')
}

/** Returns the path of the contract that a path belongs to. */
export function operationOf(path: string): string | undefined {
  if (Object.hasOwn(CONTRACT, path)) return path.includes('{') ? undefined : path
  const parts = path.split('/')
  return Object.keys(CONTRACT).find((pattern) => {
    const names = pattern.split('/')
    return (
      pattern.includes('{') &&
      names.length === parts.length &&
      names.every((name, index) => (name.startsWith('{') ? parts[index] !== '' : name === parts[index]))
    )
  })
}
