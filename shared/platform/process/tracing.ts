import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { type Micros, nowMicros } from '../../time.ts'

/** Numbers of OpenTelemetry: https://opentelemetry.io/docs/specs/otlp/ */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const

export interface EndedSpan {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: keyof typeof SPAN_KINDS
  startedAt: Micros
  endedAt: Micros
  attributes: Readonly<Record<string, string | number>>
  isFailed: boolean
}

interface Span {
  /** Runs `work` within the span; asynchronous work that it starts belongs to the span too. */
  run<T>(work: () => T): T
  end(attributes?: Readonly<Record<string, string | number>>, isFailed?: boolean): void
}

/** Starts spans; the current span is found through the asynchronous context. */
export interface Tracer {
  isOn: boolean
  /** Starts a root span; null if it is not sampled. @param traceparent header of the caller; other forms are ignored */
  root(name: string, traceparent: unknown): Span | null
  /** Runs `work` as the consumer of a message, if the message carries a trace; rejects as `work` does. */
  continued<T>(name: string, traceparent: unknown, work: () => Promise<T>): Promise<T>
}

interface Context {
  traceId: string
  spanId: string
  take: (span: EndedSpan) => void
}

const current = new AsyncLocalStorage<Context>()
/** https://www.w3.org/TR/trace-context/ */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const NO_ID = /^0+$/

export function createTracer(percent: number, take: (span: EndedSpan) => void, random = Math.random): Tracer {
  return {
    isOn: true,
    root(name, traceparent) {
      if (random() * 100 >= percent) return null
      return begin(name, 'server', { ...(readParent(traceparent) ?? { traceId: newId(16), spanId: '' }), take })
    },
    async continued(name, traceparent, work) {
      const parent = readParent(traceparent)
      if (parent === null) return await work()
      return await ended(begin(name, 'consumer', { ...parent, take }), {}, work)
    },
  }
}

/** The tracer while traces are off: a call costs one comparison. */
export const NO_TRACER: Tracer = {
  isOn: false,
  root: () => null,
  continued: (_name, _traceparent, work) => work(),
}

export interface TraceHeaders {
  traceparent?: string
}

const NO_HEADERS: TraceHeaders = {}

export function traceHeaders(): TraceHeaders {
  const parent = current.getStore()
  return parent === undefined ? NO_HEADERS : { traceparent: textOf(parent) }
}

/** `nameOf` runs only in a trace, so that disabled traces cost one comparison. */
export async function traced<T>(
  nameOf: () => string,
  kind: 'internal' | 'client',
  attributes: Readonly<Record<string, string | number>>,
  work: () => Promise<T>,
): Promise<T> {
  const parent = current.getStore()
  if (parent === undefined) return await work()
  return await ended(begin(nameOf(), kind, parent), attributes, work)
}

async function ended<T>(span: Span, attributes: EndedSpan['attributes'], work: () => Promise<T>): Promise<T> {
  try {
    const result = await span.run(work)
    span.end(attributes)
    return result
  } catch (error) {
    span.end(attributes, true)
    throw error
  }
}

function begin(name: string, kind: EndedSpan['kind'], parent: Context): Span {
  const { traceId, take } = parent
  const spanId = newId(8)
  const context = { traceId, spanId, take }
  const startedAt = nowMicros()
  let isOver = false
  return {
    run: (work) => current.run(context, work),
    end(attributes = {}, isFailed = false) {
      if (isOver) return
      isOver = true
      // The wall clock may have been set back.
      const endedAt = Math.max(startedAt, nowMicros())
      take({ traceId, spanId, parentSpanId: parent.spanId, name, kind, startedAt, endedAt, attributes, isFailed })
    },
  }
}

function readParent(traceparent: unknown): Pick<Context, 'traceId' | 'spanId'> | null {
  const [, traceId = '', spanId = ''] = typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent) ?? []) : []
  return NO_ID.test(traceId) || NO_ID.test(spanId) || traceId === '' ? null : { traceId, spanId }
}

function textOf({ traceId, spanId }: Pick<Context, 'traceId' | 'spanId'>): string {
  return `00-${traceId}-${spanId}-01`
}

function newId(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
