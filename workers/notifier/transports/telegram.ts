import { type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { telegram } from '#shared/monitoring/integrations/kinds/telegram.ts'
import { htmlText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import type { HttpAnswer } from '#shared/platform/http/http-client.ts'
import { answeredObject, deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** What the Bot API says when a chat cannot be written to any more. */
const lostChat = /bot was blocked|bot was kicked|user is deactivated|chat was deleted|chat not found|not a member/i

/** A group that became a supergroup has a new id: it is saved, and the message sent there. */
export const telegramTransport = defineTransport(telegram, async (context, config, notification) => {
  const { text } = fitted('telegram', notification, (shown) => ({ text: htmlText(shown, '\n') }))
  const sendTo = async (id: string | number, decide: (answer: HttpAnswer) => Outcome | null) =>
    deliver(
      context.http,
      context.now,
      json('POST', `${config.base_url}/bot${config.token}/sendMessage`, {
        chat_id: id,
        ...(config.thread_id !== undefined && { message_thread_id: config.thread_id }),
        text,
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
      }),
      decide,
    )
  let movedTo: number | undefined
  const outcome = await sendTo(config.id, (answer) => {
    movedTo = migratedId(answer)
    return refusal(answer)
  })
  if (movedTo === undefined) return outcome
  await context.saveConfig({ ...config, id: movedTo })
  return sendTo(movedTo, refusal)
})

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

/** The Bot API says in the body what others say in headers. */
function parameterOf(answer: HttpAnswer, name: 'migrate_to_chat_id' | 'retry_after'): number | undefined {
  const { parameters } = answeredObject(answer)
  if (typeof parameters !== 'object' || parameters === null) return undefined
  const value = Object.entries(parameters).find(([key]) => key === name)?.[1]
  return typeof value === 'number' ? value : undefined
}
