import { equalSecrets, type Secrets } from '../../platform/process/secrets.ts'

/** 128 bits of HMAC-SHA256 over purpose, incident and integration. */
const BYTES = 16
const signed = (incident: string, channel: string) => `incident:${incident}:${channel}`

/** Whether the signature of such a link is ours, under the present key or the one before. */
export function isIncidentLink(
  secrets: Pick<Secrets, 'digests'>,
  { incident, channel, signature }: { incident: string; channel: string; signature: string },
): boolean {
  const given = Buffer.from(signature, 'base64url')
  return secrets.digests(signed(incident, channel)).some((digest) => equalSecrets(digest.subarray(0, BYTES), given))
}

/** The page on which whoever was told may acknowledge, without signing in; so it is signed. */
export function incidentUrl(
  { publicUrl, secrets }: { publicUrl: string; secrets: Pick<Secrets, 'digest'> },
  incident: string,
  channel: string,
): string {
  const signature = secrets.digest(signed(incident, channel)).subarray(0, BYTES).toString('base64url')
  return `${publicUrl}/i/${incident}/${channel}/${signature}`
}
