interface MessageLimit {
  /** path of members; `*` for each element of a list; empty for the whole request as JSON */
  field: string
  max: number
  /** code points, UTF-16 units, or bytes of UTF-8 */
  unit: 'characters' | 'units' | 'bytes'
  /** the service does not count HTML elements and counts an entity as one character */
  isWithoutMarkup?: true
  /** URL of the documentation, or the reason for a limit that we set */
  source: string
}

const OURS = 'our own: the service documents none'
const TWILIO_BODY = 'Twilio, Message resource and errors 21617, 21658'
const OPSGENIE = 'Opsgenie, Alert API, Create Alert'

/** Webhooks, commands and groups have no limits, because their text comes from their owner. */
export const messageLimits = {
  // The only limit of mails is that of the subject in shared/delivery/mailer.ts.
  sms: [{ field: 'Body', max: 1600, unit: 'units', source: TWILIO_BODY }],
  whatsapp: [
    { field: 'Body', max: 1600, unit: 'units', source: TWILIO_BODY },
    // The text of the template counts too, so part of the 1,024 is reserved for it.
    { field: 'ContentVariables.1', max: 900, unit: 'units', source: 'WhatsApp, message templates: a body has 1,024' },
  ],
  call: [
    { field: 'Twiml', max: 4000, unit: 'units', source: 'Twilio, Call resource, parameter Twiml' },
    { field: 'Twiml', max: 1000, unit: 'units', source: 'our own: about a minute of speech' },
  ],
  slack: [
    {
      field: 'attachments.*.text',
      max: 4000,
      unit: 'units',
      source: 'Slack, chat.postMessage: recommended for a text',
    },
    { field: 'attachments.*.fields.*.value', max: 2000, unit: 'units', source: 'Slack, Block Kit: text of a field' },
    { field: '', max: 16_000, unit: 'bytes', source: OURS },
  ],
  mattermost: [{ field: 'attachments', max: 7800, unit: 'characters', source: 'Mattermost, model/post.go: props' }],
  rocketchat: [{ field: 'attachments', max: 5000, unit: 'characters', source: 'Rocket.Chat, Message_MaxAllowedSize' }],
  discord: [
    { field: 'username', max: 80, unit: 'units', source: 'Discord, Execute Webhook' },
    { field: 'attachments.*.title', max: 256, unit: 'units', source: 'Discord, Embed Limits' },
    { field: 'attachments.*.text', max: 4096, unit: 'units', source: 'Discord, Embed Limits: description' },
    { field: 'attachments.*.fields.*.title', max: 256, unit: 'units', source: 'Discord, Embed Limits: field name' },
    { field: 'attachments.*.fields.*.value', max: 1024, unit: 'units', source: 'Discord, Embed Limits: field value' },
    { field: 'attachments', max: 6000, unit: 'units', source: 'Discord, Embed Limits: all texts together' },
  ],
  msteamsw: [{ field: '', max: 28_000, unit: 'bytes', source: 'Microsoft Teams, webhooks: 28 KB for a message' }],
  googlechat: [{ field: '', max: 32_000, unit: 'bytes', source: 'Google Chat, messages.create' }],
  telegram: [
    { field: 'text', max: 4096, unit: 'units', isWithoutMarkup: true, source: 'Telegram Bot API, sendMessage' },
  ],
  // An event may have 65,536 bytes, including what the home server adds.
  matrix: [{ field: '', max: 60_000, unit: 'bytes', source: 'Matrix, Client-Server API, Size limits' }],
  zulip: [
    { field: 'topic', max: 60, unit: 'characters', source: 'Zulip, Send a message' },
    { field: 'content', max: 10_000, unit: 'characters', source: 'Zulip, Send a message' },
  ],
  signal: [{ field: 'message', max: 2000, unit: 'bytes', source: 'Signal, longest body without an attachment' }],
  ntfy: [
    { field: 'message', max: 4096, unit: 'bytes', source: 'ntfy, Publishing, Limitations' },
    { field: '', max: 8192, unit: 'bytes', source: 'ntfy, server.go: a JSON message has twice the message limit' },
  ],
  gotify: [{ field: 'message', max: 10_000, unit: 'characters', source: OURS }],
  po: [
    { field: 'title', max: 250, unit: 'characters', source: 'Pushover, API, Limitations' },
    { field: 'message', max: 1024, unit: 'characters', source: 'Pushover, API, Limitations' },
    { field: 'url', max: 512, unit: 'characters', source: 'Pushover, API, Limitations' },
  ],
  pushbullet: [{ field: 'body', max: 4000, unit: 'bytes', source: OURS }],
  pd: [{ field: 'description', max: 1024, unit: 'characters', source: 'PagerDuty, Events API v1' }],
  opsgenie: [
    { field: 'message', max: 130, unit: 'characters', source: OPSGENIE },
    { field: 'description', max: 15_000, unit: 'characters', source: OPSGENIE },
    { field: 'note', max: 25_000, unit: 'characters', source: OPSGENIE },
    { field: 'source', max: 100, unit: 'characters', source: OPSGENIE },
    { field: 'tags.*', max: 50, unit: 'characters', source: OPSGENIE },
  ],
  victorops: [{ field: '', max: 20_000, unit: 'bytes', source: OURS }],
  pagertree: [{ field: '', max: 20_000, unit: 'bytes', source: OURS }],
  spike: [{ field: '', max: 20_000, unit: 'bytes', source: OURS }],
  github: [
    { field: 'title', max: 256, unit: 'characters', source: 'GitHub, REST API, Create an issue' },
    { field: 'body', max: 65_536, unit: 'characters', source: 'GitHub, REST API, Create an issue' },
  ],
  trello: [
    { field: 'name', max: 16_384, unit: 'characters', source: 'Trello, REST API, Create a card' },
    { field: 'desc', max: 16_384, unit: 'characters', source: 'Trello, REST API, Create a card' },
  ],
  apprise: [
    { field: 'title', max: 250, unit: 'characters', source: OURS },
    { field: 'body', max: 10_000, unit: 'characters', source: OURS },
  ],
} as const satisfies Record<string, readonly MessageLimit[]>

export type LimitedKind = keyof typeof messageLimits

export function exceededLimits(kind: LimitedKind, request: unknown): MessageLimit[] {
  const limits: readonly MessageLimit[] = messageLimits[kind]
  return limits.filter((limit) =>
    valuesAt(request, limit.field === '' ? [] : limit.field.split('.')).some(
      (value) => lengthOf(typeof value === 'string' ? value : JSON.stringify(value), limit) > limit.max,
    ),
  )
}

function valuesAt(value: unknown, [first, ...rest]: readonly string[]): unknown[] {
  if (first === undefined) return value === undefined ? [] : [value]
  const holder: unknown = typeof value === 'string' ? JSON.parse(value) : value
  if (typeof holder !== 'object' || holder === null) return []
  return Object.entries(holder).flatMap(([key, one]) => (first === '*' || key === first ? valuesAt(one, rest) : []))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

function lengthOf(text: string, { unit, isWithoutMarkup }: MessageLimit): number {
  const shown = isWithoutMarkup
    ? text.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
    : text
  if (unit === 'units') return shown.length
  return unit === 'bytes' ? Buffer.byteLength(shown) : [...shown].length
}
