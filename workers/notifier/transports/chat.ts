import { type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { escapeHtml } from '#shared/html.ts'
import {
  discord,
  googlechat,
  matrix,
  mattermost,
  msteamsw,
  rocketchat,
  slack,
  telegram,
  zulip,
} from '#shared/monitoring/integrations/kinds/chat.ts'
import { ackUrlOf } from '#shared/monitoring/notifications/alert-texts.ts'
import { htmlText, markdownText, markedTitle, plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitToLimits } from '#shared/monitoring/notifications/fit-to-limits.ts'
import { factsOf, quotedBody, sentenceOf, summaryOf, titleOf } from '#shared/monitoring/notifications/message.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { escapeInlineMarkdown, escapeMarkdown } from '#shared/monitoring/notifications/text-parts.ts'
import type { HttpAnswer } from '#shared/platform/http/http-client.ts'
import { answeredObject, basicAuth, deliver, form, json, permanentOn } from './http-delivery.ts'
import { slackMessage } from './slack-format.ts'
import { defineTransport, type Transport } from './transport.ts'

/** Discord accepts Slack's message format at a separate URL, with Markdown in its texts. */
const discordTransport = defineTransport(discord, async ({ http, now, settings }, config, notification) => {
  const url = new URL(config.url)
  if (!url.pathname.endsWith('/slack')) url.pathname = `${url.pathname.replace(/\/$/, '')}/slack`
  const message = fitToLimits('discord', notification, (fitted) =>
    slackMessage(fitted, settings.siteName.slice(0, 80), 'discord'),
  )
  return deliver(http, now, json('POST', url.href, message), permanentOn(404))
})

const googlechatTransport = defineTransport(googlechat, async ({ http, now }, config, notification) =>
  deliver(
    http,
    now,
    json(
      'POST',
      config.url,
      fitToLimits('googlechat', notification, (fitted) => ({ cardsV2: [{ cardId: fitted.id, card: card(fitted) }] })),
    ),
  ),
)

function card(notification: Notification) {
  const body = quotedBody(notification)
  const facts = factsOf(notification).map(({ label, value }) => ({
    decoratedText: { topLabel: label, text: escapeHtml(value), wrapText: true },
  }))
  const buttons = linksOf(notification).map(({ title, url }) => ({ text: title, onClick: { openLink: { url } } }))
  const sections = [
    { widgets: [{ textParagraph: { text: escapeHtml(sentenceOf(notification)) } }, ...facts] },
    ...(body ? [{ header: "Last ping's body", widgets: [{ textParagraph: { text: escapeHtml(body) } }] }] : []),
    { widgets: [{ buttonList: { buttons } }] },
  ]
  return { header: { title: markedTitle(notification) }, sections }
}

/** Links for services with buttons. */
function linksOf(notification: Notification): { title: string; url: string }[] {
  const ackUrl = ackUrlOf(notification)
  const open = { title: 'Open the check', url: notification.urls.check }
  return ackUrl === null ? [open] : [{ title: 'Acknowledge', url: ackUrl }, open]
}

const msteamswTransport = defineTransport(msteamsw, async ({ http, now }, config, notification) =>
  deliver(
    http,
    now,
    json(
      'POST',
      config.url,
      fitToLimits('msteamsw', notification, (fitted) => ({
        type: 'message',
        attachments: [{ ...cardType, content: msteamswCard(fitted) }],
      })),
    ),
  ),
)

const cardType = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null }

/** Text blocks and facts of an Adaptive Card are Markdown. */
function msteamswCard(notification: Notification) {
  const body = quotedBody(notification)
  const facts = factsOf(notification).map(({ label, value }) => ({
    title: `${label}:`,
    value: escapeInlineMarkdown(value),
  }))
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    fallbackText: summaryOf(notification),
    body: [
      {
        type: 'TextBlock',
        text: escapeMarkdown(markedTitle(notification)),
        weight: 'bolder',
        size: 'medium',
        wrap: true,
      },
      { type: 'TextBlock', text: escapeMarkdown(sentenceOf(notification)), wrap: true },
      { type: 'FactSet', facts },
      ...(body ? [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: body, fontType: 'monospace' }] }] : []),
    ],
    actions: linksOf(notification).map((link) => ({ type: 'Action.OpenUrl', ...link })),
  }
}

const mattermostTransport = defineTransport(mattermost, async ({ http, now, settings }, config, notification) =>
  deliver(
    http,
    now,
    json(
      'POST',
      config.url,
      fitToLimits('mattermost', notification, (fitted) => slackMessage(fitted, settings.siteName, 'markdown')),
    ),
  ),
)

/** Rocket.Chat names the sender `alias`; the attachment has Slack's format. */
const rocketchatTransport = defineTransport(rocketchat, async ({ http, now, settings }, config, notification) => {
  const message = fitToLimits('rocketchat', notification, (fitted) => ({
    alias: settings.siteName,
    text: '',
    attachments: slackMessage(fitted, settings.siteName, 'markdown').attachments,
  }))
  return deliver(http, now, json('POST', config.url, message))
})

const slackTransport = defineTransport(slack, async ({ http, now, settings }, config, notification) =>
  deliver(
    http,
    now,
    json(
      'POST',
      config.url,
      fitToLimits('slack', notification, (fitted) => slackMessage(fitted, settings.siteName, 'slack')),
    ),
    ({ status, body }) => {
      const isGone = status === 404 || (status === 400 && body.toString('utf8').trim() === 'invalid_token')
      return isGone ? permanent(`Received status code ${status}`, { failure: 'status' }) : null
    },
  ),
)

const maxTopic = 60

const zulipTransport = defineTransport(zulip, async ({ http, now }, config, notification) => {
  const topic = config.topic || titleOf(notification).slice(0, maxTopic).toWellFormed()
  const message = fitToLimits('zulip', notification, (fitted) => ({
    type: config.mtype,
    to: config.to,
    ...(config.mtype === 'stream' && { topic }),
    content: markdownText(fitted),
  }))
  return deliver(
    http,
    now,
    form(`${config.site}/api/v1/messages`, message, basicAuth(config.bot_email, config.api_key)),
  )
})

/** The bot can no longer write to a chat with these descriptions. */
const lostChat = /bot was blocked|bot was kicked|user is deactivated|chat was deleted|chat not found|not a member/i

/** If a group became a supergroup, saves its new id and sends the message there. */
const telegramTransport = defineTransport(telegram, async (context, config, notification) => {
  const hasButtons = ackUrlOf(notification) !== null
  const rows = [linksOf(notification).map(({ title, url }) => ({ text: title, url }))]
  let isRefused = false
  const sendTo = async (id: string | number, decide: (answer: HttpAnswer) => Outcome | null, asButtons = hasButtons) =>
    deliver(
      context.http,
      context.now,
      json('POST', `${config.base_url}/bot${config.token}/sendMessage`, {
        chat_id: id,
        ...(config.thread_id !== undefined && { message_thread_id: config.thread_id }),
        ...fitToLimits('telegram', notification, (fitted) => ({ text: htmlText(fitted, '\n', asButtons) })),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
        ...(asButtons && { reply_markup: { inline_keyboard: rows } }),
      }),
      (answer) => {
        isRefused = asButtons && refusesButton(answer)
        return decide(answer)
      },
    )
  let movedTo: number | undefined
  const decideFirst = (answer: HttpAnswer) => {
    movedTo = migratedId(answer)
    return refusal(answer)
  }
  const first = await sendTo(config.id, decideFirst)
  const outcome = isRefused ? await sendTo(config.id, decideFirst, false) : first
  if (movedTo === undefined) return outcome
  await context.saveConfig({ ...config, id: movedTo })
  return sendTo(movedTo, refusal)
})

/** Telegram refuses buttons to hosts without a public name, but accepts links to them in the text. */
function refusesButton(answer: HttpAnswer): boolean {
  const { description } = answeredObject(answer)
  return answer.status === 400 && typeof description === 'string' && /button.*url/i.test(description)
}

function refusal(answer: HttpAnswer): Outcome | null {
  const wait = parameterOf(answer, 'retry_after')
  if (answer.status === 429 && wait !== undefined)
    return temporary('Received status code 429', { failure: 'status', retryAfterSeconds: wait })
  const { description } = answeredObject(answer)
  if (typeof description !== 'string' || (answer.status !== 400 && answer.status !== 403)) return null
  if (!lostChat.test(description)) return null
  return permanent(`Received status code ${answer.status} with a message: "${description}"`, { failure: 'refused' })
}

function migratedId(answer: HttpAnswer): number | undefined {
  return answer.status === 400 ? parameterOf(answer, 'migrate_to_chat_id') : undefined
}

/** The Bot API puts response parameters into the body instead of the headers. */
function parameterOf(answer: HttpAnswer, name: 'migrate_to_chat_id' | 'retry_after'): number | undefined {
  const { parameters } = answeredObject(answer)
  if (typeof parameters !== 'object' || parameters === null) return undefined
  const value = Object.entries(parameters).find(([key]) => key === name)?.[1]
  return typeof value === 'number' ? value : undefined
}

/** The transaction id is the notification's id, so that the home server drops duplicates. */
const matrixTransport = defineTransport(matrix, async ({ http, now }, config, notification) => {
  const room = encodeURIComponent(config.room_id)
  const url = `${config.homeserver}/_matrix/client/v3/rooms/${room}/send/m.room.message/${notification.id}`
  const message = fitToLimits('matrix', notification, (fitted) => ({
    msgtype: 'm.text',
    // Without this, names and bodies could mention users.
    'm.mentions': {},
    body: plainText(fitted),
    format: 'org.matrix.custom.html',
    formatted_body: htmlText(fitted, '<br>'),
  }))
  return deliver(http, now, json('PUT', url, message, { authorization: `Bearer ${config.access_token}` }))
})

export const chatTransports: readonly Transport[] = [
  slackTransport,
  mattermostTransport,
  rocketchatTransport,
  discordTransport,
  msteamswTransport,
  googlechatTransport,
  telegramTransport,
  matrixTransport,
  zulipTransport,
]
