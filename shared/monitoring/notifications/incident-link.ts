import type { Secrets } from '../../platform/process/secrets.ts'

/** 128 bits of HMAC-SHA256 over purpose, incident and integration, as base64url: 22 characters. */
export function incidentSignature(secrets: Pick<Secrets, 'digest'>, incident: string, channel: string): string {
  return secrets.digest(`incident:${incident}:${channel}`).subarray(0, 16).toString('base64url')
}

/** The page on which whoever was told may acknowledge, without signing in; so it is signed. */
export function incidentUrl(
  { publicUrl, secrets }: { publicUrl: string; secrets: Pick<Secrets, 'digest'> },
  incident: string,
  channel: string,
): string {
  return `${publicUrl}/i/${incident}/${channel}/${incidentSignature(secrets, incident, channel)}`
}
