import { spawn } from 'node:child_process'
import { MailError, type Mailer, type OutgoingMail } from '#shared/delivery/mailer.ts'
import { delivered, type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { email, group, shell } from '#shared/monitoring/integrations/kinds/other.ts'
import { emailMessage } from '#shared/monitoring/notifications/email-message.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { toIsoSeconds } from '#shared/time.ts'
import { defineTransport, type Transport } from './transport.ts'

/**
 * Only a permanent refusal of the recipient disables the integration. If the server refuses the content, the message
 * is sent once more without the text of the ping, which everyone who knows the ping URL can choose.
 */
const emailTransport = defineTransport(email, async ({ mailer, settings }, config, notification) => {
  if (!notification.integration.isEmailVerified)
    return temporary('Email not verified', { failure: 'config', final: true })
  if (!mailer) return temporary('Email notifications are not enabled', { failure: 'config', final: true })
  const envelopeFrom = settings.bounceAddressOf?.(notification.id)
  const send = async (content: Notification) =>
    await attempt(mailer, {
      to: config.value,
      ...(envelopeFrom !== undefined && { envelopeFrom }),
      ...emailMessage(content, settings.siteName),
    })
  const error = await send(notification)
  const isRefused = error?.refused === 'message' && notification.lastPing !== null
  return outcomeOf(isRefused ? await send(withoutPing(notification)) : error)
})

async function attempt(mailer: Mailer, mail: OutgoingMail): Promise<MailError | null> {
  try {
    await mailer.send(mail)
    return null
  } catch (error) {
    if (error instanceof MailError) return error
    throw error
  }
}

function outcomeOf(error: MailError | null): Outcome {
  if (!error) return delivered
  const { message, failure, refused } = error
  if (refused === 'recipient') return permanent(message, { failure })
  return temporary(message, { failure, final: refused === 'message' })
}

function withoutPing(notification: Notification): Notification {
  const { lastPing } = notification
  if (!lastPing) return notification
  const note = 'its content is left out because the mail server refused it'
  return { ...notification, lastPing: { ...lastPing, ua: note, body: null } }
}

/** Members are retried separately, so a group with failed members is not retried. */
const groupTransport = defineTransport(group, async ({ sendToMembers }, config, notification) => {
  const outcomes = await sendToMembers(config.channels, notification)
  const failed = outcomes.filter((outcome) => outcome.result !== 'delivered').length
  if (failed === 0) return delivered
  return temporary(`${failed} out of ${outcomes.length} notifications failed`, { failure: 'refused', final: true })
})

/** See docs/spec/monitoring.md#integration-kinds. */
const MAX_MS = 30_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Names and tags are user input: they are passed in the environment and never in the text of the command. */
export const shellTransport = defineTransport(shell, async ({ settings }, config, notification) => {
  if (!settings.mayRunCommands) {
    return temporary('Shell commands are not enabled', { failure: 'config', final: true })
  }
  return await run(notification.status === 'up' ? config.cmd_up : config.cmd_down, environmentOf(notification))
})

/** The environment of this process contains secrets. */
function environmentOf({ check, status, flipAt }: Notification): Record<string, string> {
  const { uuid, name, tags } = check
  return {
    PATH,
    CODE: uuid,
    STATUS: status,
    NOW: toIsoSeconds(flipAt),
    // A variable cannot contain NUL; stored texts never do.
    NAME: name,
    TAGS: tags,
  }
}

async function run(command: string, env: Record<string, string>): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  // Detached creates a process group, so that all processes of the command can be killed together.
  const child = spawn('/bin/sh', ['-c', command], { env, cwd: '/', stdio: 'ignore', detached: true })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, MAX_MS)
  child.once('error', () => resolve(temporary('The command could not be started', { failure: 'internal' })))
  child.once('exit', (code, signal) => {
    if (isLate) resolve(temporary('The command took too long', { failure: 'timeout' }))
    else if (code === 0) resolve(delivered)
    else resolve(temporary(`Command returned exit code ${code ?? signal}`, { failure: 'refused' }))
  })
  return await promise.finally(() => clearTimeout(timer))
}

export const otherTransports: readonly Transport[] = [emailTransport, shellTransport, groupTransport]
