import { statusColours } from '#shared/monitoring/notifications/chat-text.ts'
import { codeBlock, escapeInlineMarkdown, escapeSlack } from '#shared/monitoring/notifications/escapes.ts'
import { factsOf, quotedBody, sentenceOf, titleOf } from '#shared/monitoring/notifications/message.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'

/**
 * The attachment message of Slack's incoming webhooks, which Mattermost, Discord and Rocket.Chat understand too.
 * @param format what the service takes text for: Slack's own format, or Markdown, in which links and mentions work
 */
export function slackMessage(notification: Notification, siteName: string, format: 'slack' | 'markdown' = 'slack') {
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
