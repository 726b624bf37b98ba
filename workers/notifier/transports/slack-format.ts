import { statusColours } from '#shared/notifications/chat-text.ts'
import { codeBlock, escapeSlack } from '#shared/notifications/escapes.ts'
import { factsOf, quotedBody, summaryOf, titleOf } from '#shared/notifications/message.ts'
import type { Notification } from '#shared/notifications/notification.ts'

/** The attachment message of Slack's incoming webhooks, which Mattermost, Discord and Rocket.Chat understand too. */
export function slackMessage(notification: Notification, siteName: string) {
  const body = quotedBody(notification)
  const fields = factsOf(notification).map(({ label, value }) => ({
    title: label,
    value: escapeSlack(value),
    short: value.length < 40,
  }))
  return {
    username: siteName,
    text: '',
    attachments: [
      {
        color: statusColours[notification.status],
        fallback: escapeSlack(`The check ${summaryOf(notification)}.`),
        mrkdwn_in: ['fields', 'text'],
        title: escapeSlack(titleOf(notification)),
        title_link: notification.urls.check,
        text: escapeSlack(`The check ${summaryOf(notification)}.`),
        fields: body
          ? [...fields, { title: "Last ping's body", value: codeBlock(escapeSlack(body)), short: false }]
          : fields,
      },
    ],
  }
}
