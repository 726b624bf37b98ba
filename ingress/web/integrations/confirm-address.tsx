import type { Router } from 'express'
import { email } from '#shared/channels/kinds/email.ts'
import { confirmRecipient, type StoredChannel } from '#shared/channels/store.ts'
import type { IngressDeps } from '../../deps.ts'
import { openConfig } from '../../monitoring/integration-config.ts'
import { mailLink } from '../accounts/mail.ts'
import { throttle } from '../accounts/throttle.ts'
import type { Context } from '../context.ts'
import { createRecipientRouter } from './recipient-page.tsx'

/**
 * Whether mails may go out at once. One's own address needs no proof; with anybody else's, this installation would send
 * mails that nobody asked for.
 */
export function isOwnAddress(context: Context, address: unknown): boolean {
  return typeof address === 'string' && address.toLowerCase() === context.session?.email
}

/**
 * Counts a mail to somebody who has not agreed to anything; called before what it is about is stored.
 * @throws RateLimitedError
 */
export async function mayAsk(context: Context, address: unknown): Promise<void> {
  await throttle(context, 'confirm', String(address).toLowerCase())
}

/** Asks the recipient of an integration whether they want its mails. A mail server that refuses is only logged. */
export async function askRecipient(context: Context, channel: StoredChannel, projectName: string): Promise<void> {
  const { deps } = context
  const to = String(openConfig(channel, deps.secrets).value)
  const signature = deps.secrets.digest(signedText(channel.uuid, to)).toString('base64url')
  await mailLink(deps, {
    to,
    subject: `Do you want alerts of ${projectName}?`,
    lead: `${deps.config.siteName} is to tell this address when checks of ${projectName} go down and come up again. It begins once you agree:`,
    path: `/integrations/${channel.uuid}/confirm/${signature}`,
    foot: 'If you do not know what this is about, nothing needs to be done: you get no more mails.',
  })
}

/** The link that the recipient of an e-mail integration agrees by. Another address in its place ends it. */
export function createConfirmRouter(deps: IngressDeps): Router {
  return createRecipientRouter(deps, {
    name: 'confirm',
    signed: (channel) => signedText(channel.uuid, String(addressOf(channel, deps))),
    audited: 'integration.confirmed',
    run: (channel) => confirmRecipient(deps.db, channel),
    title: 'Alerts by mail',
    page: (projectName, isDone) =>
      isDone ? (
        <>
          <h1>You get alerts from now on</h1>
          <p>Every mail of {projectName} ends with a link by which you can stop them.</p>
        </>
      ) : (
        <>
          <h1>Do you want alerts of {projectName}?</h1>
          <form method="post">
            <button type="submit" class="primary">
              Send me alerts
            </button>
          </form>
        </>
      ),
  })
}

/** Undefined for integrations that are not e-mail. */
function addressOf(channel: { kind: string; sealedConfig: string }, deps: IngressDeps): unknown {
  return channel.kind === email.kind ? openConfig(channel, deps.secrets).value : undefined
}

function signedText(uuid: string, address: string): string {
  return `confirm:${uuid}:${address}`
}
