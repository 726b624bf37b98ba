import type { Config } from '#shared/platform/process/config.ts'

/** One kind of integration, to choose from. */
export interface CatalogueKind {
  kind: string
  /** what it does, in one sentence */
  about: string
}

/** Every kind, in the order in which people look for them. */
export const catalogue: readonly { title: string; kinds: readonly CatalogueKind[] }[] = [
  {
    title: 'Mail and phone',
    kinds: [
      { kind: 'email', about: 'A mail to one address, which is asked first.' },
      { kind: 'sms', about: 'A text message to a phone.' },
      { kind: 'call', about: 'A call that reads out what is down.' },
      { kind: 'whatsapp', about: 'A WhatsApp message to a phone.' },
      { kind: 'signal', about: 'A Signal message, by your own gateway.' },
    ],
  },
  {
    title: 'Chat',
    kinds: [
      { kind: 'slack', about: 'A message in a channel.' },
      { kind: 'msteamsw', about: 'A card in a channel.' },
      { kind: 'googlechat', about: 'A message in a space.' },
      { kind: 'discord', about: 'A message in a channel.' },
      { kind: 'telegram', about: 'A message by a bot of yours.' },
      { kind: 'mattermost', about: 'A message in a channel.' },
      { kind: 'rocketchat', about: 'A message in a channel.' },
      { kind: 'matrix', about: 'A message in a room.' },
      { kind: 'zulip', about: 'A message in a stream.' },
    ],
  },
  {
    title: 'On call',
    kinds: [
      { kind: 'pd', about: 'An incident that resolves by itself.' },
      { kind: 'opsgenie', about: 'An alert that closes by itself.' },
      { kind: 'victorops', about: 'An incident that recovers by itself.' },
      { kind: 'pagertree', about: 'An alert that resolves by itself.' },
      { kind: 'spike', about: 'An incident that resolves by itself.' },
    ],
  },
  {
    title: 'Push',
    kinds: [
      { kind: 'ntfy', about: 'A notification of a topic.' },
      { kind: 'po', about: 'A notification, up to emergencies.' },
      { kind: 'pushbullet', about: 'A notification on your devices.' },
      { kind: 'gotify', about: 'A notification by your own server.' },
    ],
  },
  {
    title: 'For developers',
    kinds: [
      { kind: 'webhook', about: 'A request of your making, to any address.' },
      { kind: 'github', about: 'An issue in a repository.' },
      { kind: 'trello', about: 'A card on a board.' },
      { kind: 'apprise', about: 'Anything else, by an Apprise server.' },
      { kind: 'shell', about: 'A command on this server.' },
      { kind: 'group', about: 'Several integrations under one name.' },
    ],
  },
]

/** Why this installation cannot send by a kind; null when it can. */
export function whyNot(kind: string, config: Pick<Config, 'smtpUrl' | 'twilioAccount' | 'appriseUrl'>): string | null {
  switch (kind) {
    case 'email':
      return config.smtpUrl === undefined ? 'Off here: SMTP_URL is not set.' : null
    case 'sms':
    case 'call':
    case 'whatsapp':
      return config.twilioAccount === undefined ? 'Off here: TWILIO_ACCOUNT is not set.' : null
    case 'apprise':
      return config.appriseUrl === undefined ? 'Off here: APPRISE_URL is not set.' : null
    default:
      return null
  }
}
