import type { Pages } from '../../shell/context.ts'
import { CONSOLE } from '../console.tsx'
import { showConsents } from './consents.tsx'
import { identityForms } from './forms.ts'
import { issuerPages } from './issuers.tsx'
import { showPassport, showPassports } from './passports.tsx'
import { showPresentation, showPresentations, showValues } from './presentations.tsx'
import { showSubject, showSubjects } from './subjects.tsx'
import { showVerification, showVerifications } from './verifications.tsx'

/** Subjects with what is known of them and by what, what wallets were asked for, passports, consents, issuers. */
export function identityPages(pages: Pages): void {
  pages.get(`${CONSOLE}/identity`, showSubjects)
  identityForms(pages)
  pages.get(`${CONSOLE}/identity/subjects/:subject`, showSubject)
  pages.get(`${CONSOLE}/identity/verifications`, showVerifications)
  pages.get(`${CONSOLE}/identity/verifications/:id`, showVerification)
  pages.get(`${CONSOLE}/identity/passports`, showPassports)
  pages.get(`${CONSOLE}/identity/passports/:passport`, showPassport)
  issuerPages(pages)
  pages.get(`${CONSOLE}/identity/presentations`, showPresentations)
  pages.get(`${CONSOLE}/identity/presentations/:id`, showPresentation)
  pages.post(`${CONSOLE}/identity/presentations/:id/values`, showValues)
  pages.get(`${CONSOLE}/identity/consents`, showConsents)
}
