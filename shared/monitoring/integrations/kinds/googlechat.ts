import { incomingWebhook, incomingWebhookHelp } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const googlechat = defineKind({
  kind: 'googlechat',
  label: 'Google Chat',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})
