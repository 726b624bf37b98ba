import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { asserted, created, readAnswer, type Site, type StoredPasskey } from './passkey.ts'

// The verification library takes 26 MB and 200 ms to load, so the ingress imports this file only in threads.

/** Null when malformed or for another site or challenge. */
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

/** The counter must not decrease. Returns it, or null. */
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
