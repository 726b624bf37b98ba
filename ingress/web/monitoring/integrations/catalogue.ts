import type { Config } from '#shared/platform/process/config.ts'

/** Returns the reason why this installation cannot send through a kind; null if it can. */
export function unavailableReason(
  kind: string,
  config: Pick<Config, 'smtpUrl' | 'twilioAccount' | 'appriseUrl'>,
): string | null {
  switch (kind) {
    case 'email':
      return config.smtpUrl === undefined ? 'Off here: SMTP_URL is not set.' : null
    case 'sms':
    case 'call':
    case 'whatsapp':
      return config.twilioAccount === undefined ? 'Off here: TWILIO_ACCOUNT is not set.' : null
    case 'apprise':
      return config.appriseUrl === undefined ? 'Off here: APPRISE_URL is not set.' : null
    default:
      return null
  }
}
