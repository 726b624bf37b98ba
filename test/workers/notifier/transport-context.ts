import { createHttpClient } from '#shared/platform/http/http-client.ts'
import type { TransportContext } from '../../../workers/notifier/transports/transport.ts'

/** Creates a context whose HTTP client may connect to loopback, where the sinks listen. */
export function openTransportContext(
  overrides: Partial<TransportContext> = {},
  timeoutMs = 30_000,
): TransportContext & AsyncDisposable & { saved: Record<string, unknown>[] } {
  const http = createHttpClient({
    policy: { allowPrivate: ['127.0.0.0/8'], plainHttp: 'anywhere' },
    userAgent: 'Signalbox',
    timeoutMs,
  })
  const saved: Record<string, unknown>[] = []
  return {
    http,
    gatewayHttp: http,
    mailer: null,
    settings: { siteName: 'Signalbox', twilio: null, appriseUrl: null, mayRunCommands: false },
    now: () => Date.UTC(2026, 0, 31, 10),
    async saveConfig(config) {
      saved.push(config)
    },
    async sendToMembers() {
      return []
    },
    saved,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]()
    },
    ...overrides,
  }
}
