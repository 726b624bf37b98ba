import { incomingWebhook, incomingWebhookHelp } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const discord = defineKind({
  kind: 'discord',
  label: 'Discord',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})
