import { discord } from '#shared/monitoring/integrations/kinds/discord.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { deliver, json, permanentOn } from './http-delivery.ts'
import { slackMessage } from './slack-format.ts'
import { defineTransport } from './transport.ts'

/** Discord accepts Slack's structure at a separate address, and reads Markdown in it. */
export const discordTransport = defineTransport(discord, async ({ http, now, settings }, config, notification) => {
  const url = new URL(config.url)
  if (!url.pathname.endsWith('/slack')) url.pathname = `${url.pathname.replace(/\/$/, '')}/slack`
  const message = fitted('discord', notification, (shown) =>
    slackMessage(shown, settings.siteName.slice(0, 80), 'discord'),
  )
  return deliver(http, now, json('POST', url.href, message), permanentOn(404))
})
