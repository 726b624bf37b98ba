import type { ConfigObject } from '../integrations/shown-config.ts'

/** Kinds that reach one person. Any person may add one, so kinds that call servers or run commands are excluded. */
export const CONTACT_KINDS = [
  'email',
  'sms',
  'call',
  'whatsapp',
  'signal',
  'telegram',
  'ntfy',
  'po',
  'pushbullet',
  'gotify',
] as const
export type ContactKind = (typeof CONTACT_KINDS)[number]

export function isContactKind(text: string): text is ContactKind {
  return CONTACT_KINDS.some((kind) => kind === text)
}

/** Members that an integration of the same kind can provide: server, sender and token of the service. */
const SHARED: Partial<Record<ContactKind, readonly string[]>> = {
  whatsapp: ['content_sid'],
  signal: ['number', 'url'],
  telegram: ['token', 'base_url'],
  ntfy: ['url', 'token'],
  po: ['token', 'base_url'],
  gotify: ['url'],
}

export function sharedMembers(kind: ContactKind): readonly string[] {
  return SHARED[kind] ?? []
}

/** Returns the configuration with the members that the integration provides. The person's own members are the rest. */
export function withShared(kind: ContactKind, own: ConfigObject, integration: ConfigObject): ConfigObject {
  const members = sharedMembers(kind)
  const isShared = ([name]: [string, unknown]) => members.includes(name)
  const kept = Object.entries(own).filter((member) => !isShared(member))
  return Object.fromEntries([...kept, ...Object.entries(integration).filter(isShared)])
}

export function withoutShared(kind: ContactKind, config: ConfigObject): ConfigObject {
  const members = sharedMembers(kind)
  return Object.fromEntries(Object.entries(config).filter(([name]) => !members.includes(name)))
}

const PHONE: ReadonlySet<string> = new Set<ContactKind>(['sms', 'call', 'whatsapp'])

/** Messages with a price are not sent for recoveries by default. */
export function defaultRecoveries(kind: ContactKind): boolean {
  return !PHONE.has(kind)
}

/** Returns the recipient. Two configurations with the same address reach the same person. */
export function addressOf(kind: ContactKind, config: ConfigObject): string {
  const text = (name: string) => String(config[name] ?? '')
  switch (kind) {
    case 'email':
      return text('value').toLowerCase()
    case 'telegram':
      return [text('id'), text('thread_id')].filter((part) => part !== '').join('/')
    case 'ntfy':
      return `${text('url')}/${text('topic')}`
    case 'po':
      return text('user_key')
    case 'pushbullet':
      return text('access_token')
    case 'gotify':
      return `${text('url')} ${text('token')}`
    default:
      return text('value')
  }
}

/** Phone numbers and phone-based kinds of one person share the limit of codes. */
export function addressKey(kind: ContactKind, config: ConfigObject): string {
  return `contact:${PHONE.has(kind) || kind === 'signal' ? 'phone' : kind}:${addressOf(kind, config)}`
}

/** Kinds whose address is a secret. */
const SECRET: ReadonlySet<string> = new Set<ContactKind>(['po', 'pushbullet', 'gotify'])

/** `+1555***0100`, `a***@example.org`, `***` for a secret */
export function maskedAddress(kind: ContactKind, config: ConfigObject): string {
  if (SECRET.has(kind)) return '***'
  const address = addressOf(kind, config)
  if (kind === 'email') return address.replace(/^(.).*(@[^@]*)$/, '$1***$2')
  if (address.startsWith('+')) return `${address.slice(0, 5)}***${address.slice(-4)}`
  return `${address.slice(0, 2)}***${address.slice(-2)}`
}

export interface Gateways {
  smtpUrl?: string | undefined
  twilioAccount?: string | undefined
  twilioAuth?: string | undefined
  twilioFrom?: string | undefined
}

/** Returns false if the operator has not configured the gateway of the kind. */
export function isGatewaySet(kind: ContactKind, gateways: Gateways): boolean {
  if (kind === 'email') return gateways.smtpUrl !== undefined
  if (!PHONE.has(kind)) return true
  const { twilioAccount, twilioAuth, twilioFrom } = gateways
  return twilioAccount !== undefined && twilioAuth !== undefined && twilioFrom !== undefined
}
