import type { IntegrationKind } from './kind.ts'
import { github, trello } from './kinds/boards.ts'
import { discord, googlechat, matrix, mattermost, msteamsw, rocketchat, slack, telegram, zulip } from './kinds/chat.ts'
import { opsgenie, pagertree, pd, spike, victorops } from './kinds/incident-tools.ts'
import { email, group, shell } from './kinds/other.ts'
import { call, signal, sms, whatsapp } from './kinds/phone.ts'
import { apprise, gotify, ntfy, po, pushbullet } from './kinds/push.ts'
import { webhook } from './kinds/webhook.ts'

/** Every kind of integration. To add one: a file in `kinds/`, a line here, a transport of the same name. */
const kinds: readonly IntegrationKind[] = [
  email,
  webhook,
  sms,
  call,
  whatsapp,
  slack,
  mattermost,
  rocketchat,
  discord,
  msteamsw,
  googlechat,
  telegram,
  matrix,
  zulip,
  signal,
  ntfy,
  gotify,
  po,
  pushbullet,
  pd,
  opsgenie,
  victorops,
  pagertree,
  spike,
  github,
  trello,
  apprise,
  shell,
  group,
]

/** By identifier, in the order in which they are offered. */
export const integrationKinds: ReadonlyMap<string, IntegrationKind> = new Map(kinds.map((kind) => [kind.kind, kind]))

/** Names by which people know some kinds better; accepted where a kind is given, never shown. */
const aliases: Readonly<Record<string, string>> = {
  'e-mail': 'email',
  pagerduty: 'pd',
  pushover: 'po',
  msteams: 'msteamsw',
  teams: 'msteamsw',
  splunk: 'victorops',
  'google-chat': 'googlechat',
  phone: 'call',
}

/** @returns undefined when there is no such kind; case does not matter */
export function findKind(name: string): IntegrationKind | undefined {
  const lower = name.toLowerCase()
  return integrationKinds.get(Object.hasOwn(aliases, lower) ? (aliases[lower] ?? lower) : lower)
}
