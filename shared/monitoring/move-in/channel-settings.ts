/** Settings of an integration in a database of Healthchecks, under our names. */
export interface ChannelSettings {
  config: Readonly<Record<string, unknown>>
  /** settings that only the environment of the other server has, or the reason for an unusable value; null if complete */
  lacks: string | null
}

type Document = Readonly<Record<string, unknown>>

/**
 * Maps the stored value of an integration. A value is a text or a JSON object, depending on kind and age. Secrets of an
 * incomplete integration are left out, because its form requires them again.
 */
export function channelSettings(kind: string, value: string): ChannelSettings {
  const read = Object.hasOwn(READERS, kind) ? READERS[kind] : undefined
  if (!read) return { config: {}, lacks: 'settings of this kind' }
  const document = value.startsWith('{') ? documentOf(value) : {}
  return document === null ? { config: {}, lacks: 'readable settings' } : read(value, document)
}

type Read = (value: string, document: Document) => ChannelSettings

const complete = (config: Document): ChannelSettings => ({ config, lacks: null })

/** Takes members of the document under the same names. */
const members =
  (...names: readonly string[]): Read =>
  (_value, document) =>
    complete(taken(document, names))

/** Takes the text as a webhook address, or the member of a document at a path. */
const address =
  (...path: readonly string[]): Read =>
  (value, document) =>
    complete({ url: value.startsWith('{') ? textAt(document, path) : value })

const SWITCHES = ['value', 'up', 'down'] as const
const slackAddress = address('incoming_webhook', 'url')

const READERS: Readonly<Record<string, Read>> = {
  apprise: (value) => complete({ value }),
  call: members('value'),
  discord: (value, document) => {
    const url = textAt(document, ['webhook', 'url']) ?? value
    return complete({ url: url.replace(/^https:\/\/discordapp\.com\//, 'https://discord.com/') })
  },
  email: (value, document) => complete(value.startsWith('{') ? taken(document, SWITCHES) : { value }),
  github: (_value, document) => ({ config: taken(document, ['repo', 'labels']), lacks: 'token' }),
  googlechat: address(),
  gotify: members('url', 'token', 'priority', 'priority_up'),
  group: (value) => complete({ channels: value.split(',').filter((id) => id !== '') }),
  matrix: (value) => ({ config: { room_id: value }, lacks: 'homeserver and access_token' }),
  mattermost: slackAddress,
  msteams: () => ({ config: {}, lacks: 'the address of a workflow, because connectors of Office were retired' }),
  msteamsw: address(),
  ntfy: members('topic', 'url', 'priority', 'priority_up', 'token'),
  opsgenie: members('key', 'region'),
  pagertree: address(),
  pd: (value, document) => complete(value.startsWith('{') ? taken(document, ['service_key']) : { service_key: value }),
  po: (value) => {
    const [user_key, down, up = down] = value.split('|')
    const isNumber = [down, up].every((priority) => /^-?\d$/.test(priority ?? ''))
    const priorities = isNumber && { priority: Number(down), priority_up: Number(up) }
    return { config: { ...taken({ user_key }, ['user_key']), ...priorities }, lacks: 'token' }
  },
  pushbullet: (value) => complete({ access_token: value }),
  rocketchat: address(),
  shell: members('cmd_down', 'cmd_up'),
  signal: (_value, document) => ({ config: taken(document, SWITCHES), lacks: 'number and url' }),
  slack: slackAddress,
  sms: members(...SWITCHES),
  spike: address(),
  telegram: (_value, document) => ({ config: taken(document, ['id', 'thread_id']), lacks: 'token' }),
  trello: (_value, document) => ({ config: taken(document, ['list_id']), lacks: 'key and token' }),
  victorops: address(),
  webhook: members(
    ...['method_down', 'url_down', 'body_down', 'headers_down'],
    ...['method_up', 'url_up', 'body_up', 'headers_up'],
  ),
  whatsapp: members(...SWITCHES),
  zulip: (_value, document) => {
    const bot = textAt(document, ['bot_email']) ?? ''
    const site = textAt(document, ['site']) || `https://${bot.slice(bot.indexOf('@') + 1)}`
    return complete({ ...taken(document, ['bot_email', 'api_key', 'mtype', 'to', 'topic']), site })
  },
}

function documentOf(text: string): Document | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** Leaves out absent and empty members, which have our defaults. */
function taken(document: Document, names: readonly string[]): Document {
  const isPresent = (value: unknown) => value !== undefined && value !== null && value !== ''
  return Object.fromEntries(names.filter((name) => isPresent(document[name])).map((name) => [name, document[name]]))
}

function textAt(document: Document, path: readonly string[]): string | undefined {
  let value: unknown = document
  for (const name of path) {
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : null
  }
  return typeof value === 'string' ? value : undefined
}
