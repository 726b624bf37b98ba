import { incomingWebhook, incomingWebhookHelp } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const msteamsw = defineKind({
  kind: 'msteamsw',
  label: 'Microsoft Teams',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})
