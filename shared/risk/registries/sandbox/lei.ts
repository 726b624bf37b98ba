import { leiCheckDigits } from '../../identifiers/lei.ts'
import type { BusinessQuery } from './answers.ts'
import { demoInt } from './demo-trade.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** `/lei-records`, in the JSON:API shape of the public register: every well-formed question has one demo record. */
export function leiAnswer(
  seed: string,
  url: URL,
  nowMs: number,
  known: BusinessQuery | undefined,
  isLapsed: boolean,
): object {
  const requested = decodeURIComponent(url.pathname.replace('/lei-records', '').replace(/^\//, ''))
  const registeredAs = url.searchParams.get('filter[entity.registeredAs]')
  const legalName = url.searchParams.get('filter[entity.legalName]')
  const subject = requested || registeredAs || legalName || ''
  const record = {
    type: 'lei-records',
    attributes: {
      lei: requested || demoLei(seed, subject),
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
  return { data: requested ? record : [record] }
}

// 9999 is assigned to no issuer: a demo identifier can never be a real one.
function demoLei(seed: string, subject: string): string {
  const entity = Array.from({ length: 14 }, (_, index) => ALPHABET[demoInt(seed, subject, `lei${index}`, 0, 35)] ?? '0')
  const first18 = `9999${entity.join('')}`
  return first18 + leiCheckDigits(first18)
}
