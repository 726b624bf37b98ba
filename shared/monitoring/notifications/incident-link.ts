export function signedOfIncidentLink(incident: string, channel: string): string {
  return `incident:${incident}:${channel}`
}

export const INCIDENT_SIGNATURE_BYTES = 16

/** A notified person may acknowledge here without signing in. `digest` is of `signedOfIncidentLink`. */
export function incidentLinkPath(incident: string, channel: string, digest: Buffer): string {
  return `/i/${incident}/${channel}/${digest.subarray(0, INCIDENT_SIGNATURE_BYTES).toString('base64url')}`
}
