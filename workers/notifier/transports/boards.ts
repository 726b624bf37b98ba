import { github, trello } from '#shared/monitoring/integrations/kinds/boards.ts'
import { markdownText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitToLimits } from '#shared/monitoring/notifications/fit-to-limits.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, form, json } from './http-delivery.ts'
import { defineTransport, type Transport } from './transport.ts'

/** GitHub answers 410 if issues are disabled in the repository. */
const githubTransport = defineTransport(github, async ({ http, now }, config, notification) => {
  const issue = fitToLimits('github', notification, (fitted) => ({
    title: titleOf(fitted),
    body: markdownText(fitted),
    ...(config.labels.length > 0 && { labels: config.labels }),
  }))
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${config.token}`,
    'x-github-api-version': '2022-11-28',
  }
  return deliver(http, now, json('POST', `${config.base_url}/repos/${config.repo}/issues`, issue, headers))
})

const trelloTransport = defineTransport(trello, async ({ http, now }, config, notification) => {
  const card = fitToLimits('trello', notification, (fitted) => ({
    idList: config.list_id,
    name: titleOf(fitted),
    desc: markdownText(fitted),
    key: config.key,
    token: config.token,
  }))
  return deliver(http, now, form(`${config.base_url}/1/cards`, card))
})

export const boardTransports: readonly Transport[] = [githubTransport, trelloTransport]
