/** Returns the text that the signature of an incident link covers. */
export function signedOfIncidentLink(incident: string, integration: string): string {
  return `incident:${incident}:${integration}`
}

export const INCIDENT_SIGNATURE_BYTES = 16

/**
 * Returns the path at which a notified person may acknowledge without signing in.
 * @param digest of `signedOfIncidentLink`
 */
export function incidentLinkPath(incident: string, integration: string, digest: Buffer): string {
  return `/i/${incident}/${integration}/${digest.subarray(0, INCIDENT_SIGNATURE_BYTES).toString('base64url')}`
}
