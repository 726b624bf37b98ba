import type { IntegrationKind } from './kind.ts'
import { boardKinds } from './kinds/boards.ts'
import { chatKinds } from './kinds/chat.ts'
import { incidentToolKinds } from './kinds/incident-tools.ts'
import { email, otherKinds } from './kinds/other.ts'
import { phoneKinds } from './kinds/phone.ts'
import { apprise, pushKinds } from './kinds/push.ts'
import { webhook } from './kinds/webhook.ts'

interface CatalogueSection {
  title: string
  icon: string
  kinds: readonly IntegrationKind[]
}

/** In the order of pages and commands. */
export const catalogue: readonly CatalogueSection[] = [
  { title: 'Mail and phone', icon: 'sms', kinds: [email, ...phoneKinds] },
  { title: 'Chat', icon: 'chat', kinds: chatKinds },
  { title: 'On call', icon: 'oncall', kinds: incidentToolKinds },
  { title: 'Push', icon: 'push', kinds: pushKinds },
  { title: 'For developers', icon: 'webhook', kinds: [webhook, ...boardKinds, apprise, ...otherKinds] },
]

export const integrationKinds: ReadonlyMap<string, IntegrationKind> = new Map(
  catalogue.flatMap(({ kinds }) => kinds.map((kind) => [kind.kind, kind])),
)

/** Accepted as input, never shown. */
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

export function findKind(name: string): IntegrationKind | undefined {
  const lower = name.toLowerCase()
  return integrationKinds.get(Object.hasOwn(aliases, lower) ? (aliases[lower] ?? lower) : lower)
}
