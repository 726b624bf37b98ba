import { incomingWebhook, incomingWebhookHelp } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const slack = defineKind({
  kind: 'slack',
  label: 'Slack',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})
