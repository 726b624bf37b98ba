import { ackUrlOf } from '#shared/monitoring/notifications/alert-texts.ts'
import { ackMarkdown, colourOf } from '#shared/monitoring/notifications/chat-text.ts'
import { factsOf, quotedBody, sentenceOf, titleOf } from '#shared/monitoring/notifications/message.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { codeBlock, escapeInlineMarkdown, escapeSlack } from '#shared/monitoring/notifications/text-parts.ts'

/** Discord has no code block with more than three backticks. */
type Format = 'slack' | 'markdown' | 'discord'

/** Mattermost, Discord and Rocket.Chat accept Slack's format too. */
export function slackMessage(notification: Notification, siteName: string, format: Format) {
  const escaped = format === 'slack' ? escapeSlack : escapeInlineMarkdown
  const body = quotedBody(notification)
  const fields = factsOf(notification).map(({ label, value }) => ({
    title: label,
    value: escaped(value),
    short: value.length < 40,
  }))
  const ackUrl = ackUrlOf(notification)
  return {
    username: siteName,
    text: '',
    attachments: [
      {
        color: colourOf(notification),
        fallback: escaped(sentenceOf(notification)),
        // Slack cannot escape its markup, so parts with user text are not formatted.
        mrkdwn_in: format === 'slack' ? [] : ['fields', 'text'],
        title: escaped(titleOf(notification)),
        title_link: notification.urls.check,
        text: [escaped(sentenceOf(notification)), format === 'slack' ? '' : ackMarkdown(notification)]
          .filter((part) => part !== '')
          .join('\n\n'),
        ...(ackUrl !== null &&
          format === 'slack' && { actions: [{ type: 'button', text: 'Acknowledge', url: ackUrl }] }),
        fields: body
          ? [
              ...fields,
              {
                title: "Last ping's body",
                value: bodyIn(format, body),
                short: false,
              },
            ]
          : fields,
      },
    ],
  }
}

function bodyIn(format: Format, body: string): string {
  if (format === 'slack') return escapeSlack(body)
  return codeBlock(format === 'discord' ? body.replaceAll('``', '`\u200b`') : body)
}
