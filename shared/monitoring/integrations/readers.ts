import { group } from './kinds/group.ts'
import { webhook } from './kinds/webhook.ts'

/** Kinds that keep a record per check in an outside system, or run a command for one: many checks mean nothing to them. */
const STORING_KINDS: ReadonlySet<string> = new Set([
  'github',
  'opsgenie',
  'pagertree',
  'pd',
  'shell',
  'spike',
  'trello',
  'victorops',
])
/** Kinds that open something in an outside system, which the recovery closes. */
const OPENED: ReadonlySet<string> = new Set(['opsgenie', 'pagertree', 'pd', 'spike', 'victorops', 'webhook'])
/** What a webhook says that takes a message about many checks as one. */
const GROUP_PLACEHOLDER = '$GROUP_JSON'

/** Whether one message may stand for many checks: people read it, or the webhook asks for their list. */
export function takesDigests(kind: string, config: unknown): boolean {
  if (kind !== webhook.kind) return !STORING_KINDS.has(kind)
  return JSON.stringify(config ?? null).includes(GROUP_PLACEHOLDER)
}

/** Whether an integration of a kind has something open for a check that is down, which is to be closed. */
export function keepsRecord(kind: string): boolean {
  return OPENED.has(kind)
}

/** The integrations that a group passes messages on to, by uuid; null for other kinds. */
export function membersOf(kind: string, config: unknown): readonly string[] | null {
  if (kind !== group.kind) return null
  const parsed = group.parse(config)
  return parsed.ok ? parsed.config.channels : []
}
