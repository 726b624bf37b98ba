import type { Pages } from '../../shell/context.ts'
import { CONSOLE } from '../console.tsx'
import { consentForms, showConsents } from './consents.tsx'
import { issuerPages } from './issuers.tsx'
import { passportForms, showPassport, showPassports } from './passports.tsx'
import { presentationForm } from './presentation-form.tsx'
import { showPresentation, showPresentations, showValues } from './presentations.tsx'
import { showSubject } from './subject-page.tsx'
import { showSubjects, subjectForms } from './subjects.tsx'
import { showVerification, showVerifications, verificationForm } from './verifications.tsx'

export function identityPages(pages: Pages): void {
  pages.get(`${CONSOLE}/identity`, showSubjects)
  // Before the pages whose parameters would match the paths of the forms.
  presentationForm(pages)
  verificationForm(pages)
  subjectForms(pages)
  consentForms(pages)
  passportForms(pages)
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
