import { leiCheckDigits } from '../../identifiers/lei.ts'
import type { BusinessQuery } from './answers.ts'
import { demoDigits, demoInt } from './demo-trade.ts'

/** LEIs that begin so belong to a British company, so that a foreign register can be tried. */
const BRITISH = '9999SGNLGB'
const BRITISH_REGISTER = 'RA000585'

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
  const isBritish = requestedLei.startsWith(BRITISH)
  const number = isBritish ? demoDigits(seed, subject, 'companyNumber', 8) : (known?.companyNumber ?? null)
  const record = {
    type: 'lei-records',
    attributes: {
      lei: requestedLei || demoLei(seed, subject),
      entity: {
        legalName: {
          name: legalName ?? known?.legalName ?? `Demo Enterprise ${demoInt(seed, subject, 'name', 0, 99_999)}`,
        },
        registeredAt: { id: isBritish ? BRITISH_REGISTER : 'RA000394' },
        registeredAs: registeredAs ?? number,
        jurisdiction: isBritish ? 'GB' : 'IN',
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

/** The demo register outside India has every company, with the requested name. */
export function registryCompanyAnswer(seed: string, url: URL, known: BusinessQuery | undefined): object {
  const [, , authority = '', companyNumber = ''] = url.pathname.split('/')
  return {
    authority,
    companyNumber,
    legalName: known?.legalName ?? `Demo Enterprise ${demoInt(seed, companyNumber, 'name', 0, 99_999)}`,
    status: 'ACTIVE',
    directorIds: [demoDigits(seed, companyNumber, 'director1', 8)],
    heldBy: null,
    addressHash: null,
    notCompared: ['HOLDING', 'ADDRESS', 'BANK_ACCOUNT', 'PHONE', 'EMAIL'],
  }
}
