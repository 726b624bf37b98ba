import { z } from 'zod'
import { baseUrl, isSwitchedOff, singleLine, switches, token } from '../fields.ts'
import { defineKind, type IntegrationKind } from '../kind.ts'

const priority = z.int().min(-3).max(2).default(0)

/** Priority 2 repeats until a person confirms; -3 is our own value for "do not send". */
export const po = defineKind({
  kind: 'po',
  label: 'Pushover',
  about: 'A notification, up to emergencies.',
  schema: z.strictObject({
    token: token(100),
    user_key: token(100),
    priority,
    priority_up: priority,
    base_url: baseUrl.default('https://api.pushover.net'),
  }),
  secretFields: ['token'],
  help: [
    'token        token of the application (secret)',
    'user_key     key of the user or group',
    'priority     -2 to 2 for failures, -3 to leave them out (0)',
    'priority_up  -2 to 2 for recoveries, -3 to leave them out (0)',
    'base_url     server (https://api.pushover.net)',
  ],
  isNoop: (config, status) => (status === 'up' ? config.priority_up : config.priority) === -3,
  recipientOf: (config) => config.user_key,
  targetsOf: (config) => [config.base_url],
})

export const pushbullet = defineKind({
  kind: 'pushbullet',
  label: 'Pushbullet',
  about: 'A notification on your devices.',
  logo: 'pushbullet',
  schema: z.strictObject({ access_token: token(), base_url: baseUrl.default('https://api.pushbullet.com') }),
  secretFields: ['access_token'],
  help: ['access_token  token of the account (secret)', 'base_url      server (https://api.pushbullet.com)'],
  targetsOf: (config) => [config.base_url],
})

const ntfyPriority = z.int().min(0).max(5).default(3)

export const ntfy = defineKind({
  kind: 'ntfy',
  label: 'ntfy',
  about: 'A notification of a topic.',
  logo: 'ntfy',
  schema: z.strictObject({
    topic: token(64).refine((text) => /^[\w-]+$/.test(text), 'must contain only letters, digits, _ and -'),
    url: baseUrl.default('https://ntfy.sh'),
    priority: ntfyPriority,
    priority_up: ntfyPriority,
    token: token().optional(),
  }),
  secretFields: ['token'],
  help: [
    'topic        name of the topic',
    'url          server (https://ntfy.sh)',
    'priority     1 to 5 for failures, 0 to leave them out (3)',
    'priority_up  1 to 5 for recoveries, 0 to leave them out (3)',
    'token        access token, for protected topics (secret)',
  ],
  isNoop: (config, status) => (status === 'up' ? config.priority_up : config.priority) === 0,
  recipientOf: (config) => `${config.url}/${config.topic}`,
  targetsOf: (config) => [config.url],
})

const gotifyPriority = z.int().min(0).max(10).optional()

export const gotify = defineKind({
  kind: 'gotify',
  label: 'Gotify',
  about: 'A notification by your own server.',
  schema: z.strictObject({ url: baseUrl, token: token(), priority: gotifyPriority, priority_up: gotifyPriority }),
  secretFields: ['token'],
  help: [
    'url          URL of the server',
    'token        application token (secret)',
    "priority     1 to 10 for failures, 0 to leave them out (the application's own)",
    "priority_up  1 to 10 for recoveries, 0 to leave them out (the application's own)",
  ],
  isNoop: (config, status) => (status === 'up' ? config.priority_up : config.priority) === 0,
  targetsOf: (config) => [config.url],
})

/** These schemes act on the gateway's machine, or could reach forbidden targets in the operator's network. */
const REFUSED = /^(?:jsons?|xmls?|forms?|https?|file|r?syslog|dbus|glib|kde|qt|gnome|windows|macosx)$/i

function addressesIn(text: string): { scheme: string; host: string }[] {
  return [...text.matchAll(/([a-z][a-z0-9+.-]*):\/\/(?:[^/?#\s,]*@)?(\[[^\]]*\]|[^:/?#\s,]*)/gi)].map(
    ([, scheme = '', host = '']) => ({ scheme, host }),
  )
}

/** True for an IP address or an internal name. Other values in this position may be tokens. */
function isHost(host: string): boolean {
  return (
    host.startsWith('[') ||
    /^\d+(?:\.\d+){1,3}$/.test(host) ||
    /^0x/i.test(host) ||
    /(?:^|\.)(?:localhost|local|internal)\.?$/i.test(host)
  )
}

export const apprise = defineKind({
  kind: 'apprise',
  label: 'Apprise',
  about: 'Anything else, by an Apprise server.',
  // Apprise URLs contain tokens and passwords.
  schema: z.strictObject({
    value: singleLine(1000)
      .refine((url) => url.includes('://'), 'must be an Apprise URL')
      .refine(
        (url) => addressesIn(url).every(({ scheme }) => !REFUSED.test(scheme)),
        'must name a service: schemes for arbitrary requests (json, xml, form) or actions on the gateway are refused',
      ),
    ...switches,
  }),
  secretFields: ['value'],
  help: [
    'value   Apprise URL, like tgram://token/chat (secret)',
    'down    report failures (true)',
    'up      report recoveries (true)',
  ],
  isNoop: isSwitchedOff,
  targetsOf: ({ value }) => addressesIn(value).flatMap(({ host }) => (isHost(host) ? [`http://${host}/`] : [])),
})

export const pushKinds: readonly IntegrationKind[] = [ntfy, po, pushbullet, gotify]
