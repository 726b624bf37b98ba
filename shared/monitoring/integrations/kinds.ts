import type { IntegrationKind } from './kind.ts'
import { apprise } from './kinds/apprise.ts'
import { call } from './kinds/call.ts'
import { discord } from './kinds/discord.ts'
import { email } from './kinds/email.ts'
import { github } from './kinds/github.ts'
import { googlechat } from './kinds/googlechat.ts'
import { gotify } from './kinds/gotify.ts'
import { group } from './kinds/group.ts'
import { matrix } from './kinds/matrix.ts'
import { mattermost } from './kinds/mattermost.ts'
import { msteamsw } from './kinds/msteamsw.ts'
import { ntfy } from './kinds/ntfy.ts'
import { opsgenie } from './kinds/opsgenie.ts'
import { pagertree } from './kinds/pagertree.ts'
import { pd } from './kinds/pd.ts'
import { po } from './kinds/po.ts'
import { pushbullet } from './kinds/pushbullet.ts'
import { rocketchat } from './kinds/rocketchat.ts'
import { shell } from './kinds/shell.ts'
import { signal } from './kinds/signal.ts'
import { slack } from './kinds/slack.ts'
import { sms } from './kinds/sms.ts'
import { spike } from './kinds/spike.ts'
import { telegram } from './kinds/telegram.ts'
import { trello } from './kinds/trello.ts'
import { victorops } from './kinds/victorops.ts'
import { webhook } from './kinds/webhook.ts'
import { whatsapp } from './kinds/whatsapp.ts'
import { zulip } from './kinds/zulip.ts'

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
