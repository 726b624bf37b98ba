import { incomingWebhook, incomingWebhookHelp } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const spike = defineKind({
  kind: 'spike',
  label: 'Spike',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})
