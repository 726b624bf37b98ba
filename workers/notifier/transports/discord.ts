import { discord } from '#shared/monitoring/channels/kinds/discord.ts'
import { deliver, json, permanentOn } from './http-delivery.ts'
import { slackMessage } from './slack-format.ts'
import { defineTransport } from './transport.ts'

/** Discord takes Slack's format at an address of its own. */
export const discordTransport = defineTransport(discord, async ({ http, now, settings }, config, notification) => {
  const url = new URL(config.url)
  if (!url.pathname.endsWith('/slack')) url.pathname = `${url.pathname.replace(/\/$/, '')}/slack`
  return deliver(http, now, json('POST', url.href, slackMessage(notification, settings.siteName)), permanentOn(404))
})
