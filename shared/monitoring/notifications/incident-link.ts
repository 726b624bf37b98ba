/** Returns the text that the signature of an incident link covers. */
export function signedOfIncidentLink(incident: string, channel: string): string {
  return `incident:${incident}:${channel}`
}

/** Signatures are truncated to 128 bits. */
export const INCIDENT_SIGNATURE_BYTES = 16

/**
 * Returns the path at which a notified person may acknowledge without signing in.
 * @param digest of `signedOfIncidentLink`
 */
export function incidentLinkPath(incident: string, channel: string, digest: Buffer): string {
  return `/i/${incident}/${channel}/${digest.subarray(0, INCIDENT_SIGNATURE_BYTES).toString('base64url')}`
}
