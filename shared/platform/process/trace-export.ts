import { toNanos } from '../../time.ts'
import { describeError, type Log } from './log.ts'
import { createTracer, type EndedSpan, NO_TRACER, SPAN_KINDS, type Tracer } from './tracing.ts'

const EVERY_MS = 2_000
const MAX_SENT = 500
/** Buffer while the collector does not answer; more spans are dropped. */
const MAX_ENTRIES = 5_000
const TIMEOUT_MS = 5_000

interface TraceOptions {
  url: string | undefined
  percent: number
  service: string
  log: Log
}

/** Sends OTLP over HTTP. Rejected spans are dropped; no request waits. */
export function openTracing({ url, percent, service, log }: TraceOptions): Tracer & AsyncDisposable {
  if (url === undefined || percent === 0) return { ...NO_TRACER, async [Symbol.asyncDispose]() {} }
  const target = `${url.replace(/\/+$/, '')}/v1/traces`
  let kept: EndedSpan[] = []
  let sending: Promise<void> | null = null
  let isHeard = true
  const tracer = createTracer(percent, (span) => {
    if (kept.length < MAX_ENTRIES) kept.push(span)
  })
  const timer = setInterval(() => flush(), EVERY_MS)
  timer.unref()

  function flush(): void {
    if (kept.length > 0) sending ??= sendAll().finally(() => (sending = null))
  }

  async function sendAll(): Promise<void> {
    while (kept.length > 0) {
      const spans = kept.slice(0, MAX_SENT)
      kept = kept.slice(MAX_SENT)
      try {
        const response = await fetch(target, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(toOtlp(service, spans)),
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
        await response.arrayBuffer()
        if (!response.ok) throw new Error(`was answered ${response.status}`)
        isHeard = true
      } catch (error) {
        if (isHeard) log.warn(describeError(error), 'traces.not-sent')
        isHeard = false
        return
      }
    }
  }

  return {
    ...tracer,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await sending
      await sendAll()
    },
  }
}

/** @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
function toOtlp(service: string, spans: readonly EndedSpan[]) {
  const scopeSpans = [{ scope: { name: 'signalbox' }, spans: spans.map(spanOf) }]
  return { resourceSpans: [{ resource: { attributes: attributesOf({ 'service.name': service }) }, scopeSpans }] }
}

function spanOf({ traceId, spanId, parentSpanId, name, kind, startedAt, endedAt, attributes, isFailed }: EndedSpan) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === '' ? {} : { parentSpanId }),
    name,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: String(toNanos(startedAt)),
    endTimeUnixNano: String(toNanos(endedAt)),
    attributes: attributesOf(attributes),
    status: isFailed ? { code: 2 } : {},
  }
}

function attributesOf(attributes: EndedSpan['attributes']) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}
