import type { WebhookConfig } from '../integrations/kinds/webhook.ts'
import { fillTemplate, type PlaceholderValues } from './placeholders.ts'

export interface WebhookRequest {
  method: 'GET' | 'POST' | 'PUT'
  url: string
  headers: Record<string, string>
  body: string | null
}

export function webhookRequest(config: WebhookConfig, values: PlaceholderValues): WebhookRequest {
  const isUp = values.status === 'up'
  const method = isUp ? config.method_up : config.method_down
  const body = isUp ? config.body_up : config.body_down
  const headers = Object.entries(isUp ? config.headers_up : config.headers_down)
  return {
    method,
    url: fillTemplate(isUp ? config.url_up : config.url_down, values, 'url'),
    headers: {
      ...(method !== 'GET' && body !== '' && { 'content-type': contentType(body) }),
      ...Object.fromEntries(
        headers.map(([name, value]) => [name.toLowerCase(), printable(fillTemplate(value, values, 'header'))]),
      ),
    },
    body: method === 'GET' ? null : fillTemplate(body, values, 'body'),
  }
}

function printable(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  return value.replace(/[\u0000-\u0008\u000a-\u001f\u007f]+/g, ' ')
}

/** Most receivers ignore a body without a content type. */
function contentType(template: string): string {
  return /^\s*[[{]/.test(template) ? 'application/json' : 'text/plain; charset=utf-8'
}
