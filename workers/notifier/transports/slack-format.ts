import { statusColours } from '#shared/monitoring/notifications/chat-text.ts'
import { codeBlock, escapeInlineMarkdown, escapeSlack } from '#shared/monitoring/notifications/escapes.ts'
import { factsOf, quotedBody, sentenceOf, titleOf } from '#shared/monitoring/notifications/message.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'

/** What a service reads texts as. */
type Format = 'slack' | 'markdown'

/** The attachment message of Slack's incoming webhooks, which Mattermost, Discord and Rocket.Chat understand too. */
export function slackMessage(notification: Notification, siteName: string, format: Format) {
  const escaped = format === 'slack' ? escapeSlack : escapeInlineMarkdown
  const body = quotedBody(notification)
  const fields = factsOf(notification).map(({ label, value }) => ({
    title: label,
    value: escaped(value),
    short: value.length < 40,
  }))
  return {
    username: siteName,
    text: '',
    attachments: [
      {
        color: statusColours[notification.status],
        fallback: escaped(sentenceOf(notification)),
        mrkdwn_in: ['fields', 'text'],
        title: escaped(titleOf(notification)),
        title_link: notification.urls.check,
        text: escaped(sentenceOf(notification)),
        fields: body
          ? [
              ...fields,
              {
                title: "Last ping's body",
                value: codeBlock(format === 'slack' ? escapeSlack(body) : body),
                short: false,
              },
            ]
          : fields,
      },
    ],
  }
}
