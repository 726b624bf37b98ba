import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { asserted, created, readAnswer, type Site, type StoredPasskey } from './passkey.ts'

// What verifies takes 26 MB and a fifth of a second to load: the ingress imports this in threads alone.

/**
 * Reads what a browser sends after it made a passkey.
 * @returns the passkey, without its owner; null when it is not for this site, this challenge, or no such thing
 */
export async function verifyCreated(
  site: Site,
  challenge: string,
  text: string,
): Promise<Omit<StoredPasskey, 'userId'> | null> {
  const answer = readAnswer(created, text)
  if (answer === null) return null
  const { transports = [], ...parts } = answer.response
  const response: RegistrationResponseJSON = { ...answer, response: { ...parts, transports } }
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    ...expected(site, challenge),
  }).catch(() => NOT_VERIFIED)
  if (!verified || !registrationInfo) return null
  const { id, publicKey, counter } = registrationInfo.credential
  return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports }
}

/**
 * Verifies what a browser sends to sign in: signature, site, challenge, that somebody was there and showed a PIN or a
 * finger, and that the counter of the authenticator has not gone back.
 * @returns the new counter; null when any of it is wrong
 */
export async function verifyAsserted(
  site: Site,
  challenge: string,
  text: string,
  passkey: StoredPasskey,
): Promise<number | null> {
  const answer = readAnswer(asserted, text)
  if (answer === null || answer.id !== passkey.credentialId) return null
  const { userHandle, ...parts } = answer.response
  const response: AuthenticationResponseJSON = { ...answer, response: { ...parts, ...(userHandle && { userHandle }) } }
  const { credentialId: id, counter, publicKey } = passkey
  const credential = { id, counter, publicKey: new Uint8Array(publicKey) }
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    credential,
    ...expected(site, challenge),
  }).catch(() => NOT_VERIFIED)
  return verified && authenticationInfo ? authenticationInfo.newCounter : null
}

const NOT_VERIFIED = { verified: false, registrationInfo: undefined, authenticationInfo: undefined } as const

function expected({ origin, host }: Site, challenge: string) {
  return { expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: host, requireUserVerification: true }
}
