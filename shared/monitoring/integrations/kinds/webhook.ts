import { z } from 'zod'
import { httpUrl, maxTemplateLength } from '../fields.ts'
import { defineKind } from '../kind.ts'

const method = z.enum(['GET', 'POST', 'PUT'])
const body = z.string().max(maxTemplateLength, `is longer than ${maxTemplateLength} characters`)
const url = z.union([z.literal('').transform(() => undefined), httpUrl]).optional()

/** Headers of the connection, and headers that could be used for request smuggling. */
const reserved = /^(?:connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i

const headers = z.record(
  z
    .string()
    .max(maxTemplateLength)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a header name')
    .refine((name) => !reserved.test(name), 'is set by the connection'),
  z
    .string()
    .max(maxTemplateLength)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    .refine((value) => !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value), 'must be one line'),
)

const input = z.strictObject({
  url,
  url_down: url,
  url_up: url,
  method_down: method.optional(),
  method_up: method.optional(),
  body_down: body.optional(),
  body_up: body.optional(),
  headers_down: headers.optional(),
  headers_up: headers.optional(),
})

const direction = (
  url: string | undefined,
  use: z.output<typeof method> | undefined,
  text = '',
  fields: Record<string, string> = {},
) => ({
  url: url ?? '',
  method: use ?? (text === '' ? 'GET' : 'POST'),
  body: text,
  headers: fields,
})

const schema = input.transform((config, context) => {
  const down = direction(config.url_down ?? config.url, config.method_down, config.body_down, config.headers_down)
  const up = direction(config.url_up ?? config.url, config.method_up, config.body_up, config.headers_up)
  if (down.url === '' && up.url === '') {
    context.addIssue({ code: 'custom', path: ['url_down'], message: 'is required without url_up' })
    return z.NEVER
  }
  return {
    url_down: down.url,
    url_up: up.url,
    method_down: down.method,
    method_up: up.method,
    body_down: down.body,
    body_up: up.body,
    headers_down: down.headers,
    headers_up: up.headers,
  }
})

export type WebhookConfig = z.output<typeof schema>

export const webhook = defineKind({
  kind: 'webhook',
  label: 'Webhook',
  about: 'A custom HTTP request to any URL.',
  schema,
  secretFields: ['headers_down', 'headers_up'],
  help: [
    'url_down, url_up          URLs for failures and recoveries; at least one. "url" sets both',
    'method_down, method_up    GET, POST or PUT (GET, or POST when there is a body)',
    'body_down, body_up        request body, sent with POST and PUT',
    'headers_down, headers_up  object of header names and values (secret)',
    'Placeholders: $CODE $STATUS $NOW $NAME_JSON $NAME $SLUG $TAGS $JSON $EXITSTATUS $TAG1 $TAG2...; $BODY_JSON and',
    '$BODY in bodies only. Under a policy also $INCIDENT_URL $INCIDENT $ACK_URL $SEVERITY $STEP $REPEAT, and $GROUP_JSON',
    '$GROUP_COUNT: a webhook with $GROUP_JSON gets one message for the checks of a digest',
  ],
  isNoop: (config, status) => (status === 'up' ? config.url_up : config.url_down) === '',
  targetsOf: (config) => [...new Set([config.url_down, config.url_up])].filter((target) => target !== ''),
  readerOf: (config, secret) => (secret === 'headers_up' ? config.url_up : config.url_down),
})
