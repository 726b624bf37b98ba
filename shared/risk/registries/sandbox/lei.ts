import { leiCheckDigits } from '../../identifiers/lei.ts'
import type { BusinessQuery } from './answers.ts'
import { demoInt } from './demo-trade.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** JSON:API: one demo record for every well-formed query. */
export function leiAnswer(
  seed: string,
  url: URL,
  nowMs: number,
  known: BusinessQuery | undefined,
  isLapsed: boolean,
): object {
  const requestedLei = decodeURIComponent(url.pathname.replace('/lei-records', '').replace(/^\//, ''))
  const registeredAs = url.searchParams.get('filter[entity.registeredAs]')
  const legalName = url.searchParams.get('filter[entity.legalName]')
  const subject = requestedLei || registeredAs || legalName || ''
  const record = {
    type: 'lei-records',
    attributes: {
      lei: requestedLei || demoLei(seed, subject),
      entity: {
        legalName: {
          name: legalName ?? known?.legalName ?? `Demo Enterprise ${demoInt(seed, subject, 'name', 0, 99_999)}`,
        },
        registeredAs: registeredAs ?? known?.companyNumber ?? null,
        jurisdiction: 'IN',
        status: 'ACTIVE',
      },
      registration: {
        status: isLapsed ? 'LAPSED' : 'ISSUED',
        nextRenewalDate: new Date(nowMs + 180 * 86_400_000).toISOString(),
      },
    },
  }
  return { data: requestedLei ? record : [record] }
}

// The prefix 9999 is assigned to no issuer, so a demo identifier is never a real one.
function demoLei(seed: string, subject: string): string {
  const entity = Array.from({ length: 14 }, (_, index) => ALPHABET[demoInt(seed, subject, `lei${index}`, 0, 35)] ?? '0')
  const first18 = `9999${entity.join('')}`
  return first18 + leiCheckDigits(first18)
}
