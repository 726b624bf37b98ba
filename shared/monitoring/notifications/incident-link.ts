/** What the signature of the link of an incident is of: purpose, incident, integration. */
export function signedOfIncidentLink(incident: string, channel: string): string {
  return `incident:${incident}:${channel}`
}

/** Of a digest so many bytes are the signature: 128 bits. */
export const INCIDENT_SIGNATURE_BYTES = 16

/**
 * The address, on our site, at which whoever was told may acknowledge without signing in.
 * @param digest of `signedOfIncidentLink`
 */
export function incidentLinkPath(incident: string, channel: string, digest: Buffer): string {
  return `/i/${incident}/${channel}/${digest.subarray(0, INCIDENT_SIGNATURE_BYTES).toString('base64url')}`
}
