/** Programs that open a link to show what is behind it, by a word of their user agent. */
const PREVIEWERS =
  /Slackbot|Slack-ImgProxy|Discordbot|TelegramBot|WhatsApp|facebookexternalhit|Facebot|Twitterbot|LinkedInBot|SkypeUriPreview|MicrosoftPreview|Microsoft Teams|Google-PageRenderer|Google-Safety|GoogleImageProxy|Mattermost-Bot|Rocket\.Chat|Matrix|Synapse|Iframely|Embedly|redditbot|Pinterestbot|vkShare|Viber|Snapchat|BingPreview|Applebot/i

/** Whether a request may be nothing but the preview of a link somebody pasted. */
export function isPreview(method: string, userAgent: string): boolean {
  return (method === 'GET' || method === 'HEAD') && PREVIEWERS.test(userAgent)
}
