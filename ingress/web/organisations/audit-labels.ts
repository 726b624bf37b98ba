/** An entry belongs to the part with its noun, otherwise to the last part. */
const PARTS = {
  people: {
    label: 'People and sign-ins',
    nouns: [
      ...[
        'address',
        'contact',
        'identity',
        'installation',
        'invitation',
        'member',
        'organisation',
        'password',
        'recovery-code',
      ],
      ...['recovery-codes', 'second-factor', 'session', 'sessions', 'sign-in', 'sign-out', 'user'],
    ],
  },
  checks: { label: 'Checks', nouns: ['check'] },
  alerting: {
    label: 'Integrations and alerting',
    nouns: ['incident', 'integration', 'policy', 'window', 'schedule', 'override', 'swap', 'feed'],
  },
  projects: { label: 'Projects and their keys', nouns: ['key', 'project', 'status-page'] },
  programs: { label: 'Programs and webhooks', nouns: ['agent-key', 'client', 'family', 'webhook'] },
  evidence: {
    label: 'Evidence',
    nouns: [
      ...['acceptance', 'business', 'consent', 'dispute', 'identity-passport', 'import', 'issuer', 'pack', 'pool'],
      ...['presentation', 'receivable', 'registration', 'subject', 'trade', 'dilution', 'financing', 'tape'],
    ],
  },
  refused: { label: 'What was refused', nouns: ['request'] },
} as const

export type AuditPart = keyof typeof PARTS

export const auditParts: readonly { value: AuditPart; label: string }[] = Object.entries(PARTS).map(
  // Object.entries loses the type of the keys.
  ([value, { label }]) => ({ value: value as AuditPart, label }),
)

export function isAuditPart(text: string): text is AuditPart {
  return Object.hasOwn(PARTS, text)
}

export function nounsOf(part: AuditPart): readonly string[] {
  return PARTS[part].nouns
}

/** Sentences for actions whose noun and verb do not form a sentence. */
const SENTENCES: Readonly<Record<string, string>> = {
  'acceptance.adjusted': 'recorded an adjustment of a receivable',
  'acceptance.recorded': "recorded a buyer's response",
  'acceptance.requested': 'requested an acceptance from a buyer',
  'address.changed': 'changed their e-mail address',
  'address.restored': 'restored their former e-mail address',
  'business.membership-changed': 'changed memberships of a business',
  'business.owners-stated': 'stated the owners of a business',
  'business.passport-issued': 'issued the passport of a business',
  'business.passport-revoked': 'revoked the passport of a business',
  'check.integrations-changed': 'changed the notifications of a check',
  'check.received': 'took over a check',
  'check.transferred': 'handed a check over',
  'client.secret-rotated': 'gave an API client a new secret',
  'contact.changed': 'changed a contact method',
  'contact.code-sent': 'sent a code to a contact method',
  'contact.created': 'added a contact method',
  'contact.deleted': 'deleted a contact method',
  'contact.enabled': 'enabled a contact method',
  'contact.tested': 'tested a contact method',
  'contact.verified': 'verified a contact method',
  'dispute.confirm': 'confirmed a receivable in a dispute',
  'dispute.release': 'released a receivable in a dispute',
  'feed.created': 'created a calendar feed',
  'feed.revoked': 'revoked a calendar feed',
  'family.granted': 'granted a family of operations',
  'family.revoked': 'took a family of operations away',
  'identity.connected': 'connected an identity for signing in',
  'identity.disconnected': 'disconnected an identity for signing in',
  'incident.ack': 'acknowledged an incident',
  'incident.assign': 'assigned an incident',
  'incident.note': 'wrote a note to an incident',
  'incident.report': 'wrote the report of an incident',
  'incident.unack': 'took back an acknowledgement',
  'installation.set-up': 'set up this installation as its first owner',
  'integration.confirmed': 'agreed to get messages of an integration',
  'integration.disabled': 'switched an integration off',
  'integration.enabled': 'switched an integration on',
  'integration.recipient-requested': 'requested the confirmation of a recipient',
  'integration.unsubscribed': 'ended the messages of an integration',
  'invitation.sent': 'invited a person',
  'member.removed': 'removed a member',
  'member.role-changed': 'changed the role of a member',
  'pack.share-revoked': 'ended the sharing of an evidence pack',
  'password.changed': 'changed their password',
  'password.link-made': 'made a link to choose a new password',
  'password.reset': 'chose a new password by a link',
  'pool.created': 'created a pool',
  'pool.cut': 'cut a pool',
  'pool.extended': 'added receivables to a pool',
  'presentation.values_read': 'read the values that a wallet showed',
  'project.check-limit-reached': 'refused a check: the project has as many as it may',
  'project.demo': 'filled a project with made-up history',
  'project.exported': 'exported a project',
  'project.imported': 'imported into a project',
  'project.statements': 'switched the stating of days',
  'project.watched': 'started to watch imported checks',
  'project.unknown-notices': 'switched the messages about unknown checks',
  'receivable.checked-blind': 'checked a receivable blind',
  'receivable.taken-over': 'took over a receivable',
  'recovery-code.used': 'signed in with a recovery code',
  'recovery-codes.made': 'made new recovery codes',
  'registration.cancel': 'cancelled the registration of a receivable',
  'registration.finance': 'marked a receivable as financed',
  'registration.release': 'released a receivable',
  'registration.renew': 'held a receivable longer',
  'registration.transfer': 'offered a receivable to another financier',
  'request.denied': 'tried what their role does not permit',
  'schedule.taken-over': 'put a person on call',
  'second-factor.added': 'added a second factor',
  'second-factor.removed': 'removed a second factor',
  'session.ended': 'signed out one session',
  'sessions.ended': 'signed out everywhere else',
  'sessions.ended-by-operator': 'ended all sessions of',
  'swap.offered': 'offered a shift to others',
  'sign-in.failed': 'failed to sign in',
  'sign-in.succeeded': 'signed in',
  'sign-out': 'signed out',
  'status-page.logo-changed': 'put a logo on a status page',
  'status-page.logo-removed': 'took the logo off a status page',
  'status-page.note-deleted': 'deleted a note of the status page',
  'status-page.note-ended': 'ended a note of the status page',
  'status-page.note-posted': 'posted a note on the status page',
  'status-page.published': 'published a status page, or changed it',
  'status-page.removed': 'took a status page down',
  'subject.moved': 'moved the state of a person',
  'trade.document_recorded': 'recorded a trade document',
  'trade.pack_issued': 'issued a trade pack',
  'trade.verified': 'had a trade party verified',
  'user.created': 'made an account',
  'webhook.resent': 'sent a delivery again',
  'webhook.replayed': 'replayed deliveries',
  'webhook.secret-rotated': 'gave a webhook endpoint a new secret',
  'window.created': 'planned maintenance',
  'window.changed': 'changed maintenance',
  'window.deleted': 'deleted maintenance',
}

const NOUNS: Readonly<Record<string, string>> = {
  'agent-key': 'an agent key',
  business: 'a business',
  check: 'a check',
  client: 'an API client',
  consent: 'a consent',
  'identity-passport': 'a passport',
  import: 'an import',
  integration: 'an integration',
  invitation: 'an invitation',
  issuer: 'an issuer of credentials',
  key: 'a key',
  organisation: 'the organisation',
  override: 'an on-call override',
  pack: 'an evidence pack',
  policy: 'a policy',
  project: 'a project',
  presentation: 'a presentation',
  receivable: 'a receivable',
  schedule: 'an on-call schedule',
  subject: 'a person',
  swap: 'a swap of shifts',
  webhook: 'a webhook endpoint',
}

/** Returns text that follows the actor: `changed a check`; returns unknown actions unchanged. */
export function auditLabels(action: string): string {
  const sentence = SENTENCES[action]
  if (sentence !== undefined) return sentence
  const [noun = '', verb = ''] = action.split('.')
  const named = NOUNS[noun]
  return named === undefined || verb === '' ? action : `${verb.replaceAll(/[-_]/g, ' ')} ${named}`
}
