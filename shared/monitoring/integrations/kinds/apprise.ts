import { z } from 'zod'
import { isSwitchedOff, singleLine, switches } from '../fields.ts'
import { defineKind } from '../kind.ts'

/**
 * Addresses of Apprise that make requests of any form, or act on the machine of the gateway. The operator's gateway is
 * inside the operator's network, so they would reach what webhooks may not.
 */
const REFUSED = /^(?:jsons?|xmls?|forms?|https?|file|r?syslog|dbus|glib|kde|qt|gnome|windows|macosx)$/i

/** One configuration may name several addresses. */
function addressesIn(text: string): { scheme: string; host: string }[] {
  return [...text.matchAll(/([a-z][a-z0-9+.-]*):\/\/(?:[^/?#\s,]*@)?(\[[^\]]*\]|[^:/?#\s,]*)/gi)].map(
    ([, scheme = '', host = '']) => ({ scheme, host }),
  )
}

/** A host that can only be one, not a token in its place: an IP address, or a name inside a network. */
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
  // Apprise addresses carry tokens and passwords.
  schema: z.strictObject({
    value: singleLine(1000)
      .refine((url) => url.includes('://'), 'is no Apprise URL')
      .refine(
        (url) => addressesIn(url).every(({ scheme }) => !REFUSED.test(scheme)),
        'must name a service: addresses that send any request (json, xml, form) or act on the gateway are refused',
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
