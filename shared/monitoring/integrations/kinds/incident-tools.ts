import { z } from 'zod'
import { baseUrl, incomingWebhook, incomingWebhookHelp, token } from '../fields.ts'
import { defineKind, type IntegrationKind } from '../kind.ts'

export const pd = defineKind({
  kind: 'pd',
  label: 'PagerDuty',
  about: 'An incident that resolves automatically.',
  logo: 'pagerduty',
  schema: z.strictObject({ service_key: token(64), base_url: baseUrl.default('https://events.pagerduty.com') }),
  secretFields: ['service_key'],
  help: ['service_key  integration key of the service (secret)', 'base_url     server (https://events.pagerduty.com)'],
  targetsOf: (config) => [config.base_url],
})

export const opsgenie = defineKind({
  kind: 'opsgenie',
  label: 'Opsgenie',
  about: 'An alert that closes automatically.',
  logo: 'opsgenie',
  schema: z.strictObject({ key: token(100), region: z.enum(['us', 'eu']).default('us'), base_url: baseUrl.optional() }),
  secretFields: ['key'],
  help: [
    'key       API key of the integration (secret)',
    'region    us or eu (us)',
    'base_url  server, in place of the one of the region',
  ],
  targetsOf: (config) => (config.base_url ? [config.base_url] : []),
})

export const victorops = defineKind({
  kind: 'victorops',
  label: 'Splunk On-Call',
  about: 'An incident that recovers automatically.',
  logo: 'splunk',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const pagertree = defineKind({
  kind: 'pagertree',
  label: 'PagerTree',
  about: 'An alert that resolves automatically.',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const spike = defineKind({
  kind: 'spike',
  label: 'Spike',
  about: 'An incident that resolves automatically.',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const incidentToolKinds: readonly IntegrationKind[] = [pd, opsgenie, victorops, pagertree, spike]
